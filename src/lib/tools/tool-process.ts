/** Starts tools for the process that has started this one, and ends with it. */
import { runHere, type ToolCall, type ToolEnd } from './run-here.ts';

export interface ToolQuestion extends ToolCall {
  readonly id: number;
}

export type ToolAnswer = { readonly id: number } & (
  { readonly end: ToolEnd } | { readonly problem: string; readonly errorCode: string | undefined }
);

// Who started it decides when it ends; a terminal signals all of its processes.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.once('disconnect', () => process.exit(0));
process.on('message', ({ id, ...call }: ToolQuestion) => {
  const answer = (what: ToolAnswer): void => {
    if (process.connected) process.send?.(what, () => undefined);
  };
  runHere(call).then(
    (end) => answer({ id, end }),
    (error: NodeJS.ErrnoException) => answer({ id, problem: error.message, errorCode: error.code }),
  );
});
