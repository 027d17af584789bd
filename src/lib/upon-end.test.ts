import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from '../../test/support/until.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tancho-upon-end-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const note = (): string => {
  try {
    return readFileSync(join(directory, 'note'), 'utf8');
  } catch {
    return '';
  }
};

/** A process that has a note written upon its end; on input it cancels that first, and ends. */
async function waited(): Promise<{
  kill: (signal: NodeJS.Signals) => void;
  cancel: () => void;
  ended: Promise<unknown>;
}> {
  const noting = `require('node:fs').writeFileSync(${JSON.stringify(join(directory, 'note'))}, process.argv.slice(1).join(' '))`;
  const program = `
    import { uponEnd } from ${JSON.stringify(new URL('./upon-end.ts', import.meta.url).href)};
    const upon = await uponEnd([process.execPath, '-e', ${JSON.stringify(noting)}, '{"a": "b c"}'], 2);
    process.stdin.once('data', () => { upon.cancel(); process.exit(0); });
    console.log('ready');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  return { kill: (signal) => void child.kill(signal), cancel: () => void child.stdin.write('cancel\n'), ended };
}

it.each(['SIGKILL', 'SIGTERM'] as const)(
  'is started when the process is ended by %s, with its arguments',
  async (signal) => {
    const one = await waited();
    expect(note()).toBe('');
    one.kill(signal);
    await until(() => note() !== '', { timeoutMs: 60_000, what: 'the note' });
    expect(note()).toMatch(/^\{"a": "b c"\} /);
  },
);

it('is not started once that is cancelled', async () => {
  const cancelled = await waited();
  cancelled.cancel();
  await cancelled.ended;
  // What was not cancelled comes later than that could.
  const other = await waited();
  other.kill('SIGKILL');
  await until(() => note() !== '', { timeoutMs: 60_000, what: 'the note of the other one' });
  expect(note()).toMatch(/^\{"a": "b c"\} upon-end$/);
});
