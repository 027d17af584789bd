/** One app tries to take everything there is, beside twenty others that are asked all the time: they notice nothing of it but the time it takes. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { GREEDS } from '../support/greedy-app.ts';
import { CALM, Neighbours } from '../support/neighbours.ts';
import { rounds } from '../support/rounds.ts';
import { until } from '../support/until.ts';

/** Of deploys of others, before and, at least, during. */
const ROUNDS = rounds(2, 5);
const LONG_MS = 300_000;
const REPORTED = /[^"]*(?:holds too much on the disk|used more memory than it may)[^"]*/g;
const WHY_ENDED = /held too much on the disk|used more memory|did not start/;
const WHOLE_MS = 1_500_000;

/** Asked of a file that nobody has open any more. */
function integrityOf(file: string): unknown {
  const database = new DatabaseSync(file);
  try {
    return database.prepare('PRAGMA integrity_check').all();
  } finally {
    database.close();
  }
}

it(
  'takes nothing from the others, and all are informed',
  async (context) => {
    const neighbours = await Neighbours.open();
    if (typeof neighbours === 'string') return context.skip(neighbours);
    const { world, token } = neighbours;
    try {
      // The same deploys as later on: what they cost is not the greedy app's doing.
      const calm = await neighbours.ask();
      for (let round = 1; round <= ROUNDS; round += 1) await neighbours.deploysOfOthers(round);
      const before = await calm.stop();
      expect(before.failures).toEqual([]);

      await neighbours.beginGreedy();
      const load = await neighbours.ask();
      for (let round = ROUNDS + 1; round <= 2 * ROUNDS; round += 1) await neighbours.deploysOfOthers(round);
      const during = await load.stop();
      // What follows looks at the greedy app again and again, which others notice, too.
      const lateLoad = await neighbours.ask();
      let isOver = false;
      const reported = new Set<string>();
      // What it prints itself pushes that out of its log, sooner or later.
      const reading = (async () => {
        while (!isOver) {
          // Which of its greeds ends it first depends on the machine.
          const answer = await world.api('GET', '/apps/greedy/log?lines=50&source=tancho', { token }).catch(() => null);
          for (const [line] of answer?.text.matchAll(REPORTED) ?? []) reported.add(line);
        }
      })();
      const deadline = Date.now() + LONG_MS;
      const isReported = (): boolean => reported.size > 0 || process.env['TANCHO_TEST_GREEDS'] !== undefined;
      for (let round = 2 * ROUNDS + 1; !isReported() && Date.now() < deadline; round += 1)
        await neighbours.deploysOfOthers(round);
      // It is started again and again, and has a word of its last end in between.
      await until(async () => WHY_ENDED.test((await world.cli(['app', 'info', '-a', 'greedy'])).stdout), {
        what: 'why the greedy app was ended',
        timeoutMs: LONG_MS,
      });
      const shown = await world.cli(['server', 'disk']);
      isOver = true;
      await Promise.all([reading, neighbours.endBuilds()]);
      const late = await lateLoad.stop();
      console.log(
        `20 others: p99 ${before.latencyMs.p99} ms before, ${during.latencyMs.p99} ms beside a greedy app (${GREEDS.join(' ')}); ` +
          `median ${before.latencyMs.median} and ${during.latencyMs.median}, longest ${before.latencyMs.longest} and ${during.latencyMs.longest}; ` +
          `${before.requests} and ${during.requests} requests, ${ROUNDS} rounds of deploys each in ${before.seconds} and ${during.seconds} s, and ${late.requests} after that; ` +
          `the load itself late by ${before.ownLatenessMs} and ${during.ownLatenessMs} ms; reported: ${[...reported].join(' | ')}`,
      );
      const edgeSays = await readFile(path.join(world.home, 'edge', 'edge.log'), 'utf8');
      expect([...during.failures, ...late.failures], edgeSays).toEqual([]);
      expect(reported.size, 'what the app reports').toBeGreaterThan(0);
      expect(shown.stdout).toMatch(/^greedy /m);
      for (const app of CALM) expect((await world.fetchApp(app)).status, app).toBe(200);
      await world.end('SIGINT');
      for (const name of ['tancho.db', 'logs.db']) {
        expect([name, integrityOf(path.join(world.home, name))]).toEqual([name, [{ integrity_check: 'ok' }]]);
      }
    } finally {
      await neighbours.dispose();
    }
  },
  WHOLE_MS,
);
