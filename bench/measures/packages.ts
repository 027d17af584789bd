/** Pushes of apps with packages, with empty caches and with those of an earlier push, beside the same work by hand. */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missingNeed, RUSTUP } from '../../test/corpus/pushed/needs.ts';
import type { WorkTree } from '../../test/support/git.ts';
import { run } from '../../test/support/world.ts';
import type { Bench, Measure } from '../bench.ts';
import { byHandMs, type Hand, runAll } from '../by-hand.ts';
import { PACKAGE_APPS, type PackageApp } from '../package-apps.ts';
import { Pusher } from '../pushing.ts';

/** The repository to which code is pushed that is built by hand. */
const BY_HAND = 'by-hand';
const FRESH_ROUNDS = 3;
const WARM_ROUNDS = 3;
const PUSH_MS = 10 * 60_000;

/** `packages` names all of them. */
export const packages: readonly Measure[] = PACKAGE_APPS.map((app) => ({
  name: `packages-${slugOf(app)}`,
  about: `${app.name}: pushes beside the package manager by hand`,
  longMs: 8 * 60_000,
  async run(bench) {
    const missing = await missingNeed(app.needs);
    if (missing === null) await measureApp(bench, app);
    else bench.note(`${app.name} is left out: ${missing}`);
  },
}));

function slugOf({ name }: PackageApp): string {
  return name.toLowerCase().replace(/\W/g, '-');
}

/** In a world of its own: what an app of another language has fetched is not there. */
async function measureApp(bench: Bench, app: PackageApp): Promise<void> {
  const path = process.env['PATH'] ?? '';
  const world = await bench.world({ env: RUSTUP });
  const pusher = await Pusher.open(bench, world);
  if (app.before !== null) await prepare(pusher, app.before);
  const work = bench.keep(await pusher.workTree(app.files));
  const place = await temporary(bench);
  const cachesOf = (round: number): string => join(place, `caches-${round}`);
  const hand: Hand = { directory: work.dir, caches: join(place, 'lock'), path, uv: await uvOf(world.home) };
  await mkdir(hand.caches);
  await runAll(app.lock, app, hand);
  await work.commit('locked');
  const name = slugOf(app);
  const fresh: Times = { hand: [], pushing: [], push: [] };
  const warm: Times = { hand: [], pushing: [], push: [] };
  const measured = async (times: Times, round: number, caches: string): Promise<void> => {
    const byHand = async (): Promise<void> => {
      times.pushing.push(await pusher.pushOnly(work, BY_HAND, 'ssh'));
      times.hand.push(await onHand(app, { ...hand, directory: join(place, 'code'), caches }, work.dir));
    };
    const pushed = async (): Promise<void> => void times.push.push(await pushMs(pusher, work, name, app));
    // Whoever comes second finds what the first has read.
    for (const way of round % 2 === 0 ? [byHand, pushed] : [pushed, byHand]) await way();
  };
  // Each in apps of its own, which have the caches of none; the last one goes on with its own.
  await bench.rounds(FRESH_ROUNDS, async (round) => {
    for (const each of [name, BY_HAND]) {
      if (round > 0) await pusher.removeApp(each);
      await pusher.createApp(each, 'auto');
    }
    await mkdir(cachesOf(round));
    await measured(fresh, round, cachesOf(round));
  });
  await bench.rounds(WARM_ROUNDS, async (round) => {
    const { file, line } = app.changed;
    const text = `${app.files[file] ?? ''}${Array.from({ length: round + 1 }, () => `${line}\n`).join('')}`;
    await work.write({ [file]: text });
    await work.commit('the source changed');
    await measured(warm, round, cachesOf(FRESH_ROUNDS - 1));
  });
  for (const [caches, { hand: by, pushing, push }] of Object.entries({ fresh, warm })) {
    const samples = by.map((ms, at) => ms + (pushing[at] ?? 0));
    const floor = { what: 'git push to where nothing is deployed; install, build and start by hand', samples };
    bench.publish({ what: `${app.name}, ${caches} caches, git push returns`, unit: 'ms', samples: push, floor });
    bench.publish({ what: `${app.name}, ${caches} caches, by hand, the code being there`, unit: 'ms', samples: by });
  }
  await bench.dispose(world);
}

/** Milliseconds, one for each round. */
interface Times {
  readonly hand: number[];
  /** The same commit through the same door to a branch that is not deployed. */
  readonly pushing: number[];
  readonly push: number[];
}

/** In a checkout of its own, as a push has: what was built before is not there. */
async function onHand(app: PackageApp, hand: Hand, from: string): Promise<number> {
  const begun = performance.now();
  const git = { cwd: from, env: { PATH: hand.path, HOME: hand.caches }, timeoutMs: PUSH_MS };
  const ran = await run('git', ['clone', '--quiet', from, hand.directory], git);
  if (ran.code !== 0) throw new Error(`git clone: ${ran.stderr}`);
  const cloned = performance.now() - begun;
  try {
    return cloned + (await byHandMs(app, hand));
  } finally {
    await rm(hand.directory, { recursive: true, force: true });
  }
}

async function temporary(bench: Bench): Promise<string> {
  const place = await mkdtemp(join(tmpdir(), 'tancho-bench-'));
  bench.keep({ dispose: () => rm(place, { recursive: true, force: true, maxRetries: 5 }) });
  return place;
}

/** Until git has returned; then the app is to answer with its page. */
async function pushMs(
  pusher: Pusher,
  work: WorkTree,
  name: string,
  { page }: Pick<PackageApp, 'page'>,
): Promise<number> {
  const begun = performance.now();
  const args = ['push', pusher.url(name, 'ssh'), 'HEAD:refs/heads/main'];
  const ran = await run('git', args, { cwd: work.dir, env: work.env, timeoutMs: PUSH_MS });
  const took = performance.now() - begun;
  if (ran.code !== 0) throw new Error(`${name}: git push failed: ${ran.stderr}`);
  const { text } = await pusher.world.fetchApp(name);
  if (!text.includes(page)) throw new Error(`${name} answers ${text.slice(0, 200)}`);
  return took;
}

async function prepare(pusher: Pusher, files: PackageApp['files']): Promise<void> {
  const work = await pusher.workTree(files);
  await pusher.createApp('before', 'auto');
  try {
    await pushMs(pusher, work, 'before', { page: '' });
  } finally {
    await work.dispose();
  }
}

/** The one that the platform has fetched for all apps; '' when there is none. */
async function uvOf(home: string): Promise<string> {
  const top = join(home, 'toolchains', 'uv');
  const [version] = await readdir(top).catch(() => [] as string[]);
  return version === undefined ? '' : join(top, version, 'tree', 'bin', 'uv');
}
