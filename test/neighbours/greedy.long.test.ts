/** One app tries to take everything there is, beside twenty others that are asked all the time: they notice nothing of it but the time it takes. */
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { archive, deployArchive } from '../support/archives.ts';
import { nodeApp } from '../support/git.ts';
import { GREEDS, greedyApp, greedyBuild } from '../support/greedy-app.ts';
import { startLoadApart } from '../support/load-apart.ts';
import { type SmallDisk, smallDisk } from '../support/small-disk.ts';
import { startWorld, type World } from '../support/world.ts';

const APPS = Array.from({ length: 20 }, (_, index) => `app${index}`);
const LOAD = { apps: APPS, perSecond: 200, connections: 8 };
const GIB = 1024 ** 3;
/** Of deploys of others, before and, at least, during. */
const ROUNDS = 20;
const LONG_MS = 300_000;
const TOLD = /[^"]*(?:holds too much on the disk|used more memory than it may)[^"]*/g;
const WHOLE_MS = 1_500_000;
const LIMITS = {
  TANCHO_UNITS_MEMORY: '256M',
  TANCHO_UNITS_DISK: '400M',
  TANCHO_UNITS_FILES: '20000',
  TANCHO_DISK_RESERVE: '512M',
};

/** So that the builds of the greedy app take turns with those of the others. */
async function anotherUser(world: World): Promise<string> {
  const [email, password] = ['bob@example.com', 'of bob 123'];
  const made = await world.api('POST', '/users', { body: JSON.stringify({ email, password }) });
  expect(made.status, made.text).toBeLessThan(300);
  const token = await world.login(email, password);
  const team = await world.api('POST', '/teams', { token, body: JSON.stringify({ name: 'crew' }) });
  expect(team.status, team.text).toBeLessThan(300);
  return token;
}

async function create(world: World, token: string, app: string): Promise<void> {
  const made = await world.api('POST', '/apps', { token, body: JSON.stringify({ name: app, platform: 'nodejs' }) });
  expect(made.status, made.text).toBe(200);
}

/** Asked of a file that nobody has open any more. */
function integrityOf(file: string): unknown {
  const database = new DatabaseSync(file);
  try {
    return database.prepare('PRAGMA integrity_check').all();
  } finally {
    database.close();
  }
}

async function deploysOfOthers(world: World, token: string, round: number): Promise<void> {
  const [first = '', second = ''] = [APPS[Math.abs(round) % APPS.length], APPS[Math.abs(round + 1) % APPS.length]];
  expect(await deployArchive(world, token, first, await archive(nodeApp(`round ${round}`)))).toMatch(/\nOK\n$/);
  expect((await world.fetchApp(first)).text).toBe(`round ${round}`);
  const body = JSON.stringify({ GREETING: `round ${round}` });
  const set = await world.api('POST', `/apps/${second}/env`, { token, body });
  expect([set.status, set.text.includes('"Error"')], set.text).toEqual([200, false]);
  expect((await world.fetchApp(second, '/env')).text).toBe(`round ${round}`);
}

it(
  'takes nothing from the others, and all are told',
  async (context) => {
    const disk: SmallDisk | string = await smallDisk(4 * GIB, 400_000);
    if (typeof disk === 'string') return context.skip(disk);
    let world: World | null = null;
    try {
      world = await startWorld({ home: path.join(disk.directory, 'home'), env: LIMITS });
      const isolation = /^Isolation: +(.*)$/m.exec(world.output())?.[1] ?? '';
      if (!isolation.includes('networks: own')) return context.skip(`nothing is kept apart here: ${isolation}`);
      const token = await world.login();
      const code = await archive(nodeApp('calm'));
      for (const app of APPS) {
        await create(world, token, app);
        expect(await deployArchive(world, token, app, code)).toMatch(/\nOK\n$/);
      }
      // The same deploys as later on: what they cost is not the greedy app's doing.
      const calm = await startLoadApart(world, LOAD);
      for (let round = 1; round <= ROUNDS; round += 1) await deploysOfOthers(world, token, -round);
      const before = await calm.stop();
      expect(before.failures).toEqual([]);

      const owner = await anotherUser(world);
      await create(world, owner, 'greedy');
      const plan = { name: 'one-core', memory: '256M', cpumilli: 1000 };
      await world.api('POST', '/plans', { token, body: JSON.stringify(plan) });
      const given = await world.api('POST', '/apps/greedy', { token, body: JSON.stringify({ plan: plan.name }) });
      expect(given.status, given.text).toBe(200);
      const greed = await archive(greedyApp());
      expect(await deployArchive(world, owner, 'greedy', greed)).toMatch(/\nOK\n$/);
      const load = await startLoadApart(world, LOAD);
      let isOver = false;
      await create(world, owner, 'builder');
      const endless = await archive(greedyBuild());
      // Its owner builds another one again and again meanwhile, twice at a time.
      const builds = Array.from({ length: GREEDS.includes('builds') ? 2 : 0 }, async () => {
        while (!isOver && world !== null) await deployArchive(world, owner, 'builder', endless).catch(() => undefined);
      });
      const told = new Set<string>();
      // What it prints itself pushes that out of its log, sooner or later.
      const reading = (async () => {
        while (!isOver && world !== null) {
          // Which of its greeds ends it first depends on the machine.
          const answer = await world.api('GET', '/apps/greedy/log?lines=50&source=tancho', { token }).catch(() => null);
          for (const [line] of answer?.text.matchAll(TOLD) ?? []) told.add(line);
        }
      })();
      let round = 1;
      const deadline = Date.now() + LONG_MS;
      const isTold = (): boolean => told.size > 0 || process.env['TANCHO_TEST_GREEDS'] !== undefined;
      for (; (round <= ROUNDS || !isTold()) && Date.now() < deadline; round += 1)
        await deploysOfOthers(world, token, round);
      const info = await world.cli(['app', 'info', '-a', 'greedy']);
      const shown = await world.cli(['server', 'disk']);
      isOver = true;
      await Promise.all([reading, ...builds]);
      const during = await load.stop();
      console.log(
        `20 others: p99 ${before.latencyMs.p99} ms before, ${during.latencyMs.p99} ms beside a greedy app (${GREEDS.join(' ')}); ` +
          `median ${before.latencyMs.median} and ${during.latencyMs.median}, longest ${before.latencyMs.longest} and ${during.latencyMs.longest}; ` +
          `${before.requests} and ${during.requests} requests, ${ROUNDS} and ${round - 1} rounds of deploys in ${before.seconds} and ${during.seconds} s; ` +
          `the load itself late by ${before.ownLatenessMs} and ${during.ownLatenessMs} ms; told: ${[...told].join(' | ')}`,
      );
      expect(during.failures).toEqual([]);
      expect(told.size, 'what the app was told').toBeGreaterThan(0);
      expect(shown.stdout).toMatch(/^greedy /m);
      expect(info.stdout, info.stderr).toMatch(/held too much on the disk|used more memory|did not start/);
      for (const app of APPS) expect((await world.fetchApp(app)).status, app).toBe(200);
      await world.end('SIGINT');
      for (const name of ['tancho.db', 'logs.db']) {
        expect([name, integrityOf(path.join(world.home, name))]).toEqual([name, [{ integrity_check: 'ok' }]]);
      }
    } finally {
      await world?.dispose().catch(() => undefined);
      await disk.dispose();
    }
  },
  WHOLE_MS,
);
