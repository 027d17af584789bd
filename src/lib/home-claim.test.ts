import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtProgram } from '../../test/support/built.ts';
import { claimHome, HomeTaken, reclaimHome } from './home-claim.ts';
import { writePidFile } from './pid-file.ts';

const RIVALS = 5;
const ROUNDS = 40;
/** Says when it is loaded, claims at the first line of input, says how that went, and holds on until its input ends. */
const RIVAL = `
const { claimHome } = await import(process.argv[1]);
console.log('loaded');
let files = process.argv.slice(2);
for await (const chunk of process.stdin) {
  const file = files.shift();
  await claimHome(file).then(() => console.log('mine'), (error) => console.log(error.name));
}
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-claim-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a home', () => {
  it('is claimed by one process only, and can be claimed again after it was given back', async () => {
    const file = join(folder, 'own.pid');
    const release = await claimHome(file);
    expect(await readFile(file, 'utf8')).toBe(`${process.pid}\n`);
    await release();
    await (
      await claimHome(file)
    )();
  });

  it('is claimed once more by the one that had it, unless another one has taken it, or has given it up since', async () => {
    const file = join(folder, 'again.pid');
    const release = await claimHome(file);
    expect(await reclaimHome(file)).toBe(true);
    const other = spawn('sleep', ['60'], { stdio: 'ignore' });
    await writePidFile(file, other.pid);
    expect(await reclaimHome(file)).toBe(false);
    other.kill();
    await once(other, 'exit');
    expect(await reclaimHome(file)).toBe(true);
    expect(await readFile(file, 'utf8')).toBe(`${process.pid}\n`);
    await release();
    expect(await reclaimHome(file)).toBe(false);
  });

  it('is not held by a stranger who has the pid of a server that crashed', async ({ skip }) => {
    skip(process.platform !== 'linux', 'what a process is, is only known on Linux');
    const stranger = spawn('sleep', ['60'], { stdio: 'ignore' });
    try {
      const file = join(folder, 'stranger.pid');
      await writeFile(file, `${stranger.pid}\n`);
      await writeFile(`${file}.start`, `${process.pid} 1\n`);
      const release = await claimHome(file);
      expect(await readFile(file, 'utf8')).toBe(`${process.pid}\n`);
      await release();
    } finally {
      stranger.kill();
      await once(stranger, 'exit');
    }
  });

  it('is claimed by one of many that try at the same moment', async () => {
    const entry = join(await builtProgram(), 'lib', 'home-claim.js');
    const files = Array.from({ length: ROUNDS }, (_, round) => join(folder, `${round}.pid`));
    const rivals = Array.from({ length: RIVALS }, () =>
      spawn(process.execPath, ['--input-type=module', '-e', RIVAL, entry, ...files], {
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
    );
    const ends = rivals.map((rival) => once(rival, 'close'));
    const say = (): Promise<string[]> =>
      Promise.all(rivals.map(async ({ stdout }) => String((await once(stdout, 'data'))[0]).trim()));
    try {
      expect(await say()).toEqual(rivals.map(() => 'loaded'));
      for (const _ of files) {
        const said = say();
        for (const { stdin } of rivals) stdin.write('now\n');
        expect((await said).sort()).toEqual([...rivals.slice(1).map(() => HomeTaken.name), 'mine']);
      }
    } finally {
      for (const { stdin } of rivals) stdin.end();
      await Promise.all(ends);
    }
  });
});
