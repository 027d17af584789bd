/** A shell of the memory provisioner: each line is a command of its units; one that ends in `exit <code>` ends the shell. */
import type { ExecResult, Shell, ShellRequest } from '../../../domain/units/provisioner.ts';
import { Failure } from '../../../domain/failure.ts';
import { MemoryUnit } from './memory-unit.ts';

export function openMemoryShell(request: ShellRequest, environment: Readonly<Record<string, string>>): Shell {
  if (request.signal.aborted) throw new Failure('cancelled', 'The shell was cancelled.');
  let end: (result: ExecResult) => void = () => {};
  const ended = new Promise<ExecResult>((resolve) => (end = resolve));
  const size = { columns: 0, rows: 0, ...request.size };
  let typed = '';
  let turn = Promise.resolve();
  const print = (text: string): void => request.output(Buffer.from(`${text}\n`));
  const onAbort = (): void => end({ code: null, signal: 'SIGKILL' });
  request.signal.addEventListener('abort', onAbort);

  async function obey(line: string): Promise<void> {
    if (line === 'size') return print(`${size.columns}x${size.rows}`);
    const unit = new MemoryUnit({ ...request.unit, command: line }, environment, print);
    const { code, signal } = await unit.ended;
    if (/(?:^|;)\s*exit [0-9]+\s*$/.test(line)) end({ code, signal });
  }

  return {
    isTerminal: request.size !== null,
    ended,
    async write(bytes) {
      typed += Buffer.from(bytes).toString();
      const lines = typed.split(/\r?\n|\r/);
      typed = lines.pop() ?? '';
      for (const line of lines) turn = turn.then(() => obey(line));
      await turn;
    },
    endInput: () => void turn.then(() => end({ code: 0, signal: null })),
    resize: (changed) => void Object.assign(size, changed),
    hold: () => {},
  };
}
