/** An app that writes as fast as the disk takes it, without a quota of the kernel: it is ended soon after its limit, and its log says why; so with a volume. */
import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, type TestContext } from 'vitest';
import { archive, deployArchive } from '../support/archives.ts';
import { nodeApp } from '../support/git.ts';
import { type SmallDisk, smallDisk } from '../support/small-disk.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';

const MIB = 1024 ** 2;
const DISK_MIB = 6 * 1024;
const LIMIT_MIB = 600;
/** Several times the limit, and far less than the disk. */
const MOST_MIB = DISK_MIB / 2;

/** Asked for `/write/<file>`, it writes until it is ended, and says how far it is and how long that took. */
const WRITER = `
const fs = require('node:fs');
const block = Buffer.alloc(4 << 20, 'x');
require('node:http').createServer((request, response) => {
  response.end('ok');
  const [, verb, ...file] = request.url.split('/');
  if (verb !== 'write') return;
  const begun = process.hrtime.bigint();
  let written = 0;
  const path = file.join('/');
  const more = () => {
    try { fs.appendFileSync(path, block); } catch (error) { return console.log('refused ' + error.code); }
    written += 4;
    if (written % 32 === 0) console.log('written ' + written + ' MiB in ' + Number(process.hrtime.bigint() - begun) / 1e6 + ' ms');
    setImmediate(more);
  };
  more();
}).listen(process.env.PORT);
`;

let disk: SmallDisk | string;
let world: World | null;
beforeEach(async () => {
  [disk, world] = [await smallDisk(DISK_MIB * MIB, 100_000), null];
});
afterEach(async () => {
  await world?.dispose();
  if (typeof disk !== 'string') await disk.dispose();
});

async function usedMib(directory: string): Promise<number> {
  const { blocks, bfree, bsize } = await statfs(directory);
  return ((blocks - bfree) * bsize) / MIB;
}

async function startWriter(context: TestContext): Promise<{ world: World; token: string; directory: string }> {
  if (typeof disk === 'string') return context.skip(disk);
  const { directory } = disk;
  world = await startWorld({ home: path.join(directory, 'home'), env: { TANCHO_UNITS_DISK: `${LIMIT_MIB}M` } });
  if (!world.output().includes('bubblewrap:')) context.skip('all see the files of the machine itself');
  const token = await world.login();
  const made = await world.api('POST', '/apps', {
    token,
    body: JSON.stringify({ name: 'writer', platform: 'nodejs' }),
  });
  expect(made.status, made.text).toBe(200);
  const code = await archive({ ...nodeApp(''), 'server.js': WRITER });
  expect(await deployArchive(world, token, 'writer', code)).toMatch(/\nOK\n$/);
  return { world, token, directory };
}

/** The log, with what the app and the platform wrote to it, and the most that was used of the disk meanwhile. */
async function writeUntilEnded(
  { world: one, token, directory }: Awaited<ReturnType<typeof startWriter>>,
  file: string,
): Promise<{ log: string; mostMib: number }> {
  const before = await usedMib(directory);
  let [log, mostMib] = ['', 0];
  await one.fetchApp('writer', `/write/${file}`);
  await until(
    async () => {
      mostMib = Math.max(mostMib, (await usedMib(directory)) - before);
      log = (await one.api('GET', '/apps/writer/log?lines=500', { token })).text;
      return log.includes('is running again');
    },
    {
      what: 'the writer to be ended and started again',
      detail: () => `${Math.round(mostMib)} MiB; ${log.slice(-2_000)}`,
    },
  );
  const [, mib = '', ms = ''] = [...log.matchAll(/written (\d+) MiB in ([\d.]+) ms/g)].at(-1) ?? [];
  const perSecond = Number(mib) / (Number(ms) / 1_000);
  console.log(
    `${file}: ${mib} MiB at ${Math.round(perSecond)} MiB/s, so ${((Number(mib) - LIMIT_MIB) / perSecond).toFixed(2)} s of writing above ${LIMIT_MIB} MiB; ` +
      `at most ${Math.round(mostMib)} MiB of the disk`,
  );
  return { log, mostMib };
}

it('beside its code: it begins anew', async (context) => {
  const writer = await startWriter(context);
  const { log, mostMib } = await writeUntilEnded(writer, 'taken');
  expect(log).toMatch(/holds too much on the disk: it has written \d+ MiB, and a unit may hold 600 MiB/);
  expect(mostMib).toBeLessThan(MOST_MIB);
});

it('into a volume: that is read-only until it holds less', async (context) => {
  const writer = await startWriter(context);
  const { world: one, directory } = writer;
  for (const argv of [
    ['volume', 'create', 'data', '--size', `${LIMIT_MIB}M`, '-a', 'writer'],
    ['volume', 'mount', 'data', '/data', '-a', 'writer'],
  ]) {
    const { code, stderr } = await one.cli(argv);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
  }
  const { log, mostMib } = await writeUntilEnded(writer, '/data/taken');
  expect(log).toMatch(/holds too much on the disk: its volume data holds .* MiB of 600.0 MiB, and is read-only/);
  expect(mostMib).toBeLessThan(MOST_MIB);
  const saying = async (text: string): Promise<void> => {
    await until(async () => (await one.api('GET', '/apps/writer/log?lines=50', writer)).text.includes(text), {
      what: text,
    });
  };
  await one.fetchApp('writer', '/write//data/more');
  await saying('refused EROFS');
  const removed = await one.cli(['app', 'run', '-a', 'writer', '--', 'rm /data/taken']);
  expect([removed.code, removed.stderr]).toEqual([0, '']);
  expect((await usedMib(directory)) < mostMib).toBe(true);
  await until(async () => (await one.api('GET', '/apps/writer/log?lines=50', writer)).text.includes('has room again'), {
    what: 'the volume to be found to have room',
    timeoutMs: 120_000,
  });
  const restarted = await one.cli(['app', 'restart', '-a', 'writer']);
  expect(restarted.code, restarted.stderr).toBe(0);
  await one.fetchApp('writer', '/write//data/again');
  await saying('written 32 MiB');
});
