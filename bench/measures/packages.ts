/** Pushes of apps with packages, with empty caches and with those of an earlier push, beside the same work by hand. */
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missingNeed, pathWithRust } from '../../test/corpus/pushed/needs.ts';
import type { WorkTree } from '../../test/support/git.ts';
import { run } from '../../test/support/world.ts';
import type { Bench, Measure } from '../bench.ts';
import { byHandMs, type Hand, runAll } from '../by-hand.ts';
import { PACKAGE_APPS, type PackageApp } from '../package-apps.ts';
import { Pusher } from '../pushing.ts';

const WARM_ROUNDS = 3;
const PUSH_MS = 10 * 60_000;

export const packages: Measure = {
  name: 'packages',
  about: 'Next, Nest, Django, FastAPI, Go, Spring Boot, Rust: pushes beside the package manager by hand',
  longMs: 45 * 60_000,
  async run(bench) {
    const path = await pathWithRust();
    for (const app of PACKAGE_APPS) {
      const missing = await missingNeed(app.needs);
      if (missing === null) await measureApp(bench, app, path);
      else bench.tell(`${app.name} is left out: ${missing}`);
    }
  },
};

/** In a world of its own: what an app of another language has fetched is not there. */
async function measureApp(bench: Bench, app: PackageApp, path: string): Promise<void> {
  const world = await bench.world({ env: { PATH: path } });
  const pusher = await Pusher.open(bench, world);
  if (app.before !== null) await prepare(pusher, app.before);
  const work = bench.keep(await pusher.workTree(app.files));
  const place = await temporary(bench);
  const hand: Hand = { directory: work.dir, caches: join(place, 'lock'), path, uv: await uvOf(world.home) };
  await mkdir(hand.caches);
  await runAll(app.lock, app, hand);
  await work.commit('locked');
  const name = app.name.toLowerCase().replace(/\W/g, '-');
  await pusher.createApp(name, 'auto');
  const caches = join(place, 'caches');
  await mkdir(caches);
  // A fresh copy each time, as a push has: what was built before is not there.
  const onHand = async (round: string): Promise<number> => {
    const directory = join(place, round);
    await cp(work.dir, directory, {
      recursive: true,
      filter: (from) => !from.startsWith(join(work.dir, '.git') + '/'),
    });
    return byHandMs(app, { ...hand, directory, caches }).finally(() => rm(directory, { recursive: true, force: true }));
  };
  const fresh = { hand: [await onHand('fresh')], push: [await pushMs(pusher, work, name, app)] };
  const warm = { hand: [] as number[], push: [] as number[] };
  await bench.rounds(WARM_ROUNDS, async (round) => {
    const { file, line } = app.changed;
    const text = `${app.files[file] ?? ''}${Array.from({ length: round + 1 }, () => `${line}\n`).join('')}`;
    await work.write({ [file]: text });
    await work.commit('the source changed');
    warm.hand.push(await onHand(`warm-${round}`));
    warm.push.push(await pushMs(pusher, work, name, app));
  });
  for (const [caches, { hand: by, push }] of Object.entries({ fresh, warm })) {
    const floor = { what: 'install, build and start by hand', samples: by };
    bench.publish({ what: `${app.name}, ${caches} caches, git push returns`, unit: 'ms', samples: push, floor });
  }
  await bench.dispose(world);
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

/** The one that the platform has brought for all apps; '' when there is none. */
async function uvOf(home: string): Promise<string> {
  const top = join(home, 'toolchains', 'uv');
  const [version] = await readdir(top).catch(() => [] as string[]);
  return version === undefined ? '' : join(top, version, 'tree', 'bin', 'uv');
}
