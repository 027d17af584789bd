import { describe, expect, it } from 'vitest';
import { ANN, type DomainWorld, startDomain } from '../../../test/support/domain-world.ts';
import { expectSound } from '../../../test/support/invariants.ts';
import { until } from '../../../test/support/until.ts';
import { PlatformError } from '../errors.ts';
import type { LogEntry } from './entry.ts';

async function printed(world: DomainWorld): Promise<string[]> {
  const entries = await world.machine.logStore.query({ app: 'shop', lines: 0 });
  return entries.filter((entry) => entry.source !== 'tancho').map((entry) => entry.message);
}

async function inWorld(test: (world: DomainWorld) => Promise<void>): Promise<void> {
  const world = await startDomain();
  try {
    await world.createApp('shop');
    await test(world);
  } finally {
    await world.dispose();
  }
}

/** The unit prints this through `/say?<text>`, as an app that answers requests would. */
async function say(world: DomainWorld, text: string): Promise<void> {
  const target = world.machine.table().routes[0]?.targets[0];
  await fetch(`http://${target?.host}:${target?.port}/say?${text}`, { headers: { connection: 'close' } });
}

async function untilPrinted(world: DomainWorld, lines: readonly string[]): Promise<void> {
  let found: string[] = [];
  await until(async () => (found = await printed(world)).length >= lines.length, {
    timeoutMs: 60_000,
    everyMs: 5,
    what: lines.join(' '),
    detail: () => found.join(' '),
  });
  expect(found).toEqual(lines);
}

describe('the output of a unit', () => {
  it('is carried on when that has time, or when the unit is ended', async () => {
    await inWorld(async (world) => {
      await world.createApp('blog');
      for (const app of ['shop', 'blog']) await world.deploy(app);
      await untilPrinted(world, ['listening']);
      const { collector } = world.parts;
      await collector.close();
      await say(world, 'held');
      collector.hold();
      for (const unit of await world.machine.store.allUnits()) {
        const release = await world.machine.store.release(unit.app, unit.release);
        collector.attach(unit, async () => release);
        expect(collector.has(unit.id)).toBe(true);
      }
      const cursors: unknown[] = [];
      world.faults.on('logStore.cursor', ([id]) => void cursors.push(id));
      await world.useCases.apps.remove(ANN, 'blog', () => {});
      expect(cursors).toHaveLength(1);
      await collector.goOn();
      await untilPrinted(world, ['listening', 'held']);
    });
  });

  it.each(['before', 'after'] as const)('is stored once, with a crash %s every append', async (moment) => {
    await inWorld(async (first) => {
      await first.deploy('shop');
      const lines = ['listening'];
      await untilPrinted(first, lines);
      let world = first;
      for (let n = 0; n < 8; n++) {
        world.faults.arm({ call: 1, moment, only: 'logStore.append' });
        lines.push(`${n}`);
        await say(world, `${n}`);
        await world.faults.crashed;
        lines.push(`${n} while nobody reads`.replaceAll(' ', '_'));
        await say(world, lines.at(-1) ?? '');
        world = await world.next();
        await untilPrinted(world, lines);
      }
    });
  });

  it('of its next life is stored too when the one before is still being read', async () => {
    await inWorld(async (world) => {
      await world.deploy('shop');
      await untilPrinted(world, ['listening']);
      const [unit] = await world.machine.store.units('shop');
      const isIn = async (life: number): Promise<boolean> => {
        const now = await world.machine.store.unit(unit?.id ?? '');
        return now?.state === 'started' && now.exits === life;
      };
      const writing = world.faults.hold('logStore.append');
      await say(world, 'last');
      await writing.reached;
      await world.machine.units.kill(unit?.id ?? '');
      await until(() => isIn(1), { what: 'the next life of the unit' });
      writing.release();
      await untilPrinted(world, ['listening', 'last', 'listening']);
      await say(world, 'more');
      await untilPrinted(world, ['listening', 'last', 'listening', 'more']);
      await expectSound(world);
    });
  });

  it('is kept when its control died and the next one only ends it', async () => {
    await inWorld(async (world) => {
      await world.deploy('shop');
      await untilPrinted(world, ['listening']);
      world.faults.arm({ call: 1, moment: 'before', only: 'router.drained' });
      await Promise.race([world.deploy('shop', { processes: { web: 'print new; serve' } }), world.faults.crashed]);
      const [old] = await world.machine.store.units('shop');
      await fetch(`http://127.0.0.1:${old?.address?.port}/say?old`, { headers: { connection: 'close' } });
      const next = await world.next();
      await expectSound(next);
      expect((await printed(next)).sort()).toEqual(['listening', 'listening', 'new', 'old']);
    });
  });
});

const PRIVATE = 'first-line-of-key\nsecond-line-of-key';

describe('private values', () => {
  it('are hidden, line by line, in what units and hooks print', async () => {
    await inWorld(async (world) => {
      await world.setEnv('shop', { KEY: PRIVATE, OTHER: 'another-secret' });
      const hooks = { restartBefore: ['print before $OTHER'], restartAfter: ['print after $OTHER'] };
      const web = 'print second-line-of-key; print $OTHER; serve';
      await world.deploy('shop', { processes: { web }, hooks });
      await untilPrinted(world, ['before ***', '***', '***', 'listening', 'after ***']);
    });
  });

  it('are hidden in everything a failed deploy says, answers and leaves', async () => {
    await inWorld(async (world) => {
      await world.setEnv('shop', { KEY: PRIVATE });
      const said: string[] = [];
      const lines = ['using first-line-of-key', 'and second-line-of-key'];
      const failing = [
        world.deploy('shop', { failure: 'build_failed', lines }, { say: (line) => said.push(line) }),
        world.deploy('shop', { processes: { web: 'print $KEY; exit 3' } }, { say: (line) => said.push(line) }),
        world.deploy('shop', { hooks: { restartBefore: ['print $KEY; exit 1'] } }, { say: (line) => said.push(line) }),
      ];
      const errors = (await Promise.allSettled(failing)).map((one) => (one.status === 'rejected' ? one.reason : null));
      const [deploys, log] = [
        await world.machine.store.deploys({ limit: 10, skip: 0 }),
        await world.machine.logStore.query({ app: 'shop', lines: 0 }),
      ];
      const stored = await Promise.all(deploys.map((deploy) => world.machine.store.deployLog(deploy.id)));
      const answered = errors.map((error: { message: string; details: unknown }) => [error.message, error.details]);
      expect(errors).toHaveLength(3);
      expect(JSON.stringify([said, answered, deploys, log, stored])).not.toMatch(/line-of-key/);
      expect(said.join('\n')).toContain('using ***');
    });
  });

  it('are hidden in the error of a change whose units do not come up', async () => {
    await inWorld(async (world) => {
      await world.deploy('shop', { processes: { web: 'print $KEY; serve', worker: 'sleep 20; stay' } });
      world.faults.on('provisioner.ready', async ([id]) => {
        const unit = await world.machine.store.unit(String(id));
        if (unit?.process !== 'web') return;
        const lines = (): Promise<readonly string[]> => world.parts.provisioner.lastLines(String(id), 9);
        await until(async () => (await lines()).join().includes('new-secret'), { what: 'the unit to print' });
        await world.machine.units.kill(String(id));
      });
      const error = await world.setEnv('shop', { KEY: 'new-secret' }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'unit.failed', details: { cause: 'exited' } });
      expect(JSON.stringify((error as { details: unknown }).details)).toContain('***');
      expect(JSON.stringify((error as { details: unknown }).details)).not.toContain('new-secret');
    });
  });

  it('is given up from the oldest on while the disk is full, and the log says how much', async () => {
    await inWorld(async (world) => {
      await world.deploy('shop');
      await untilPrinted(world, ['listening']);
      const { probe } = world.machine;
      probe.space = { ...probe.space, freeBytes: 1_000 };
      const refusing = world.faults.on('logStore.append', () => {
        throw new PlatformError('unavailable', 'The disk is full.');
      });
      const line = 'x'.repeat(8_000);
      const count = 400;
      for (let n = 0; n < count; n++) await say(world, `${n}_${line}`);
      const [unit] = await world.machine.store.units('shop');
      let asked = 0;
      world.faults.on('provisioner.giveUp', () => void (asked += 1));
      // The second one comes after the first was answered.
      await until(() => asked >= 2, { timeoutMs: 60_000, everyMs: 5, what: 'the oldest to be given up' });
      refusing();
      let entries: LogEntry[] = [];
      await until(
        async () => {
          entries = await world.machine.logStore.query({ app: 'shop', lines: 0, unit: unit?.id ?? '' });
          return entries.at(-1)?.message.startsWith(`${count - 1}_`) === true;
        },
        { timeoutMs: 60_000, everyMs: 5, what: 'the last line' },
      );
      const gap = entries.find(({ source }) => source === 'tancho');
      const missing = Number(
        /^(\d+) lines are missing here \(\d+ bytes\): the disk of the server was full\.$/.exec(gap?.message ?? '')?.[1],
      );
      expect(missing).toBeGreaterThan(100);
      const numbers = entries
        .filter(({ message }) => message.endsWith(line))
        .map(({ message }) => Number.parseInt(message, 10));
      expect(numbers).toEqual(Array.from({ length: count - missing }, (_, n) => missing + n));
      expect(entries.indexOf(gap as LogEntry)).toBe(
        entries.findIndex(({ message }) => message.startsWith(`${missing}_`)) - 1,
      );
    });
  });
});
