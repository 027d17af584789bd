import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ACCEPTED, PRE_RECEIVE, readHookRequest, REFUSED } from './hook.ts';

const [A, B] = ['a'.repeat(40), 'b'.repeat(40)];

describe('the pre-receive hook', () => {
  let directory: string;
  let hook: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'hook-'));
    hook = join(directory, 'pre-receive');
    await writeFile(hook, PRE_RECEIVE);
    await chmod(hook, 0o755);
  });
  afterAll(() => rm(directory, { recursive: true }));

  function run(updates: string) {
    const env = { PATH: process.env['PATH'], TANCHO_PUSH: '1', GIT_QUARANTINE_PATH: '/q/incoming-1' };
    const child = spawn(hook, [], { env, stdio: ['pipe', 'pipe', 'inherit', 'pipe', 'pipe'] });
    child.stdin?.end(updates);
    let shown = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (shown += text));
    const done = new Promise<{ code: number | null; shown: string }>((resolve) => {
      child.once('exit', () => child.stdio.slice(3).forEach((end) => end?.destroy()));
      child.once('close', (code) => resolve({ code, shown }));
    });
    return { requests: child.stdio[3] as Duplex, lines: child.stdio[4] as Writable, done };
  }

  it('hands over the updates, shows the lines and obeys the judgement', async () => {
    for (const [judgement, code] of [
      [ACCEPTED, 0],
      [REFUSED, 1],
    ] as const) {
      const { requests, lines, done } = run(`${A} ${B} refs/heads/main\n${B} ${A} refs/heads/ä b\n`);
      expect(await readHookRequest(requests)).toEqual({
        quarantine: '/q/incoming-1',
        updates: [
          { from: A, to: B, ref: 'refs/heads/main' },
          { from: B, to: A, ref: 'refs/heads/ä b' },
        ],
      });
      lines.write('one\n');
      requests.write(judgement);
      lines.end('two\n');
      expect(await done).toEqual({ code, shown: 'one\ntwo\n' });
    }
  });

  it('refuses the push, and says why, when the platform dies', async () => {
    const { requests, lines, done } = run(`${A} ${B} refs/heads/main\n`);
    await readHookRequest(requests);
    lines.write('building\n');
    lines.end();
    requests.destroy();
    const { code, shown } = await done;
    expect(code).toBe(1);
    expect(shown).toBe(
      'building\nThe platform stopped before it could say whether the new version serves; push again when it is back.\n',
    );
  });

  it('is not understood when it says something else', async () => {
    const { requests, lines, done } = run('nonsense\n');
    await expect(readHookRequest(requests)).rejects.toThrow('unknown update');
    lines.end();
    requests.destroy();
    expect((await done).code).toBe(1);
  });
});
