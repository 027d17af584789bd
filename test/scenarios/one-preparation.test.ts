/** Two that make the same clone ready at once: one after the other, whatever became of an earlier one. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const WAITS = 'Waiting for another one';
let clone: string;
beforeAll(async () => {
  clone = await mkdtemp(join(tmpdir(), 'tancho-clone-'));
  await cp(new URL('../../scripts/prepare.mjs', import.meta.url).pathname, join(clone, 'scripts/prepare.mjs'));
  await writeFile(
    join(clone, 'scripts/work.mjs'),
    `import { appendFileSync, existsSync } from 'node:fs';
     import { alone } from './prepare.mjs';
     await alone(async () => {
       appendFileSync('diary', 'begin ' + process.pid + '\\n');
       while (!existsSync('seen')) await new Promise((resolve) => setTimeout(resolve, 20));
       appendFileSync('diary', 'end ' + process.pid + '\\n');
     });`,
  );
});
afterAll(() => rm(clone, { recursive: true }));

/** Whoever works goes on once another one was seen to wait. */
async function work(): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, ['scripts/work.mjs'], { cwd: clone, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    said += piece;
    if (said.startsWith(WAITS)) writeFileSync(join(clone, 'seen'), '');
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, said };
}

it('waits for each other', async () => {
  const ran = await Promise.all([work(), work(), work()]);
  expect(ran.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(ran.filter(({ said }) => said.startsWith(WAITS)).length).toBeGreaterThan(0);
  const lines = (await readFile(join(clone, 'diary'), 'utf8')).trim().split('\n');
  expect(lines).toHaveLength(6);
  for (let at = 0; at < lines.length; at += 2) expect(lines[at + 1]).toBe(lines[at]?.replace('begin', 'end'));
});

it('does not wait for one that was killed', async () => {
  const gone = spawn(process.execPath, ['-e', '']);
  await new Promise((resolve) => gone.once('close', resolve));
  await writeFile(join(clone, '.tancho-preparing'), String(gone.pid));
  expect(await work()).toEqual({ code: 0, said: '' });
  await expect(readFile(join(clone, '.tancho-preparing'))).rejects.toThrow('ENOENT');
});
