import type { Sandbox, SandboxProcess } from './sandbox.ts';

interface ChildEnd {
  /** How the process ended. Rejects when it was to be ended and something of it could not be. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** Kills everything in the sandbox. */
  end(): void;
}

/** To be called as soon as the process is spawned. */
export function childEnd(sandbox: Pick<Sandbox, 'kill'>, process: SandboxProcess, id: string): ChildEnd {
  const { child, rootPid, rootStart } = process;
  let fail = (_error: unknown): void => {};
  const ended: ChildEnd['ended'] = new Promise((resolve, reject) => {
    fail = reject;
    const settle = (): void => resolve({ code: child.exitCode, signal: child.signalCode });
    if (child.exitCode === null && child.signalCode === null) child.once('exit', settle);
    else settle();
  });
  // A rejection reaches those who await it.
  ended.catch(() => undefined);
  return { ended, end: () => void sandbox.kill({ rootPid, rootStart, id }, 'SIGKILL').catch(fail) };
}
