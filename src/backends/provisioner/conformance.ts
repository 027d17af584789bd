/**
 * What every Provisioner must do. An implementation's test file calls this once per configuration; a suite counts its own
 * cases and prints which it skips and why.
 */
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Provisioner, ReadyCheck, UnitExited, UnitSpec } from '../../domain/apps/provisioner.ts';
import { Failure } from '../../domain/apps/rollout.ts';
import type { Address } from '../../domain/apps/unit.ts';

/** Command lines with agreed behaviour, in whatever language the implementation's units speak. */
export interface ConformanceCommands {
  /** Prints `listening`, answers on PORT: 200 `hello` at `/`, 500 at `/broken`; ends with code 7 after `/crash`, prints the query of `/say?...` as a line. */
  readonly serve: string;
  /** Listens, but not on PORT. */
  readonly serveElsewhere: string;
  /** Prints `last words`, ends with code 3. */
  readonly exit3: string;
  /** Ends by SIGKILL, sent by nobody else than itself. */
  readonly killSelf: string;
  /** Prints `one`, `two`, `three`, then stays. */
  readonly printAndStay: string;
  /** Prints `<TANCHO_APP> <TANCHO_UNIT> <TANCHO_PROCESS> <GREETING>`, then ends with code 0. */
  readonly printEnvironment: string;
  /** Prints `ready`, stays, ignores TERM. */
  readonly stubborn: string;
  /** Takes memory until it is stopped. */
  readonly grow: string;
  /** One-off: prints `out`, then `err` on standard error, ends with code 4. */
  readonly runAndFail: string;
  /** One-off: runs for minutes. */
  readonly runLong: string;
}

export interface ConformanceWorld {
  readonly provisioner: Provisioner;
  readonly commands: ConformanceCommands;
  readonly artifact: string;
  /** A new provisioner over the same units, as after a restart of control; the old one is closed. */
  restart(): Promise<Provisioner>;
  /** Ends a unit behind the provisioner's back, as an operator's kill would. */
  killBehind(id: string): Promise<void>;
  dispose(): Promise<void>;
}

export interface ConformanceOptions {
  readonly create: () => Promise<ConformanceWorld>;
  /** True, or why not. */
  readonly supports: { readonly memoryLimit: true | string; readonly shell: true | string };
}

const CASES = 25;
const UNLIMITED = { memoryBytes: 0, cpuMillis: 0, processes: 0 };
const NEVER = new AbortController().signal;
const SERVES: ReadyCheck = { listens: true, healthCheck: null, timeoutMs: 15_000 };
const STAYS: ReadyCheck = { listens: false, healthCheck: null, timeoutMs: 15_000 };

export function provisionerConformance(name: string, options: ConformanceOptions): void {
  describe(`provisioner ${name}`, () => {
    let world: ConformanceWorld;
    let provisioner: Provisioner;
    let exits: UnitExited[];
    let counted = 0;
    const skipped: string[] = [];

    beforeEach(async () => {
      world = await options.create();
      provisioner = world.provisioner;
      exits = [];
      provisioner.onExit((exited) => exits.push(exited));
    });
    afterEach(async () => world.dispose());
    afterAll(() => {
      for (const line of skipped) console.warn(line);
    });

    function test(title: string, body: () => Promise<void>, needs: true | string = true): void {
      counted += 1;
      if (needs === true) it(title, body);
      else {
        skipped.push(`provisioner ${name}: "${title}" skipped: ${needs}`);
        it.skip(title, body);
      }
    }

    function spec(command: string, changes: Partial<UnitSpec> = {}): UnitSpec {
      return {
        id: 'aaaaaaaaaaaa',
        app: 'shop',
        name: 'shop/0',
        process: 'web',
        artifact: world.artifact,
        command,
        env: {},
        listens: true,
        limits: UNLIMITED,
        ...changes,
      };
    }

    async function startServing(changes: Partial<UnitSpec> = {}): Promise<{ unit: UnitSpec; address: Address }> {
      const unit = spec(world.commands.serve, changes);
      await provisioner.ensure(unit);
      const address = await provisioner.ready(unit.id, SERVES, NEVER);
      if (address === null) throw new Error('A unit that listens has an address.');
      return { unit, address };
    }

    async function failureOf(work: Promise<unknown>): Promise<Failure> {
      const thrown = await work.then(
        () => new Error('nothing was thrown'),
        (error: unknown) => error,
      );
      if (!(thrown instanceof Failure)) throw thrown;
      return thrown;
    }

    async function readAll(id: string, from = 0): Promise<{ lines: string[]; offset: number }> {
      const lines: string[] = [];
      let offset = from;
      for await (const chunk of provisioner.output(id, from, AbortSignal.timeout(10_000))) {
        lines.push(...chunk.lines.map(({ text }) => text));
        offset = chunk.offset;
      }
      return { lines, offset };
    }

    async function readUntil(id: string, last: string, from = 0): Promise<{ lines: string[]; offset: number }> {
      const lines: string[] = [];
      for await (const chunk of provisioner.output(id, from, AbortSignal.timeout(10_000))) {
        lines.push(...chunk.lines.map(({ text }) => text));
        if (lines.includes(last)) return { lines, offset: chunk.offset };
      }
      throw new Error(`The line ${last} did not come; came: ${lines.join(' | ')}`);
    }

    test('starts a unit that serves at the address it names', async () => {
      const { address, unit } = await startServing();
      expect(await get(address, '/')).toEqual({ status: 200, body: 'hello' });
      expect(await provisioner.list()).toEqual([{ id: unit.id, app: 'shop', running: true }]);
    });

    test('ensures what runs already without a second start', async () => {
      const { unit, address } = await startServing();
      const handle = await provisioner.ensure(unit);
      expect(await provisioner.ensure(unit)).toBe(handle);
      expect(await provisioner.ready(unit.id, SERVES, NEVER)).toEqual(address);
      expect(await provisioner.list()).toHaveLength(1);
    });

    test('runs units side by side', async () => {
      const one = await startServing();
      const two = await startServing({ id: 'bbbbbbbbbbbb', name: 'shop/1' });
      expect(two.address).not.toEqual(one.address);
      expect((await get(one.address, '/')).status + (await get(two.address, '/')).status).toBe(400);
      expect(await provisioner.list()).toHaveLength(2);
    });

    test('gives the unit its environment', async () => {
      const unit = spec(world.commands.printEnvironment, { listens: false, env: { GREETING: 'good day' } });
      await provisioner.ensure(unit);
      expect((await readAll(unit.id)).lines).toEqual(['shop shop/0 web good day']);
    });

    test('calls a unit that does not listen ready when it stays alive', async () => {
      const unit = spec(world.commands.printAndStay, { listens: false, process: 'worker' });
      await provisioner.ensure(unit);
      expect(await provisioner.ready(unit.id, STAYS, NEVER)).toBeNull();
    });

    test('says why a unit ended before it was ready, with its last words', async () => {
      for (const listens of [true, false]) {
        const unit = spec(world.commands.exit3, { listens });
        await provisioner.ensure(unit);
        const failure = await failureOf(provisioner.ready(unit.id, { ...SERVES, listens }, NEVER));
        expect(failure.code).toBe('exited');
        expect(failure.message).toContain('3');
        expect(failure.lines).toContain('last words');
        expect(failure.hint).not.toBe('');
      }
    });

    test('says that nothing listens, and leaves the unit running', async () => {
      const unit = spec(world.commands.printAndStay);
      await provisioner.ensure(unit);
      const failure = await failureOf(provisioner.ready(unit.id, { ...SERVES, timeoutMs: 400 }, NEVER));
      expect(failure.code).toBe('no_listener');
      expect(failure.lines).toContain('three');
      expect((await provisioner.list())[0]?.running).toBe(true);
    });

    test('says that the unit listens on another port, long before the deadline', async () => {
      const unit = spec(world.commands.serveElsewhere);
      await provisioner.ensure(unit);
      const failure = await failureOf(provisioner.ready(unit.id, SERVES, NEVER));
      expect(failure.code).toBe('wrong_port');
      expect(failure.message).toMatch(/port \d+/);
      expect(failure.hint).toContain('$PORT');
    });

    test('takes a healthy answer for ready', async () => {
      const { unit } = await startServing();
      for (const healthCheck of [{ path: '/' }, { path: '/', match: '^hel+o$' }, { path: '/broken', status: 500 }]) {
        expect(await provisioner.ready(unit.id, { ...SERVES, healthCheck }, NEVER)).not.toBeNull();
      }
    });

    test('fails at once on a wrong answer beyond the allowed ones', async () => {
      const { unit } = await startServing();
      for (const healthCheck of [
        { path: '/broken', allowedFailures: 1 },
        { path: '/', match: 'goodbye' },
      ]) {
        const failure = await failureOf(provisioner.ready(unit.id, { ...SERVES, healthCheck }, NEVER));
        expect(failure.code).toBe('health_check_failed');
        expect(failure.lines).toContain('listening');
      }
    });

    test('stops waiting when told to', async () => {
      const unit = spec(world.commands.printAndStay);
      await provisioner.ensure(unit);
      const failure = await failureOf(provisioner.ready(unit.id, SERVES, AbortSignal.timeout(100)));
      expect(failure.code).toBe('cancelled');
    });

    test('stops a unit and tells of its exit once', async () => {
      const { unit, address } = await startServing();
      await provisioner.stop(unit.id, 5_000);
      await expect(get(address, '/')).rejects.toThrow();
      expect(await provisioner.list()).toEqual([{ id: unit.id, app: 'shop', running: false }]);
      await provisioner.stop(unit.id, 5_000);
      expect(exits.map(({ id }) => id)).toEqual([unit.id]);
    });

    test('kills what does not want to stop', async () => {
      const unit = spec(world.commands.stubborn, { listens: false });
      await provisioner.ensure(unit);
      await readUntil(unit.id, 'ready');
      await provisioner.stop(unit.id, 100);
      expect((await provisioner.list())[0]?.running).toBe(false);
      expect(exits).toEqual([{ id: unit.id, code: null, signal: 'SIGKILL', outOfMemory: false }]);
    });

    test('takes stop and remove of a missing unit as done', async () => {
      await provisioner.stop('cccccccccccc', 100);
      await provisioner.remove('cccccccccccc');
      await provisioner.consumed('cccccccccccc', 5);
      expect(await provisioner.lastLines('cccccccccccc', 5)).toEqual([]);
      expect(await readAll('cccccccccccc')).toEqual({ lines: [], offset: 0 });
    });

    test('tells how a unit died', async () => {
      const failing = spec(world.commands.exit3, { listens: false });
      const killed = spec(world.commands.killSelf, { listens: false, id: 'bbbbbbbbbbbb' });
      await provisioner.ensure(failing);
      await provisioner.ensure(killed);
      await expect.poll(() => exits.length, { timeout: 5_000 }).toBe(2);
      expect(exits).toContainEqual({ id: failing.id, code: 3, signal: null, outOfMemory: false });
      expect(exits).toContainEqual({ id: killed.id, code: null, signal: 'SIGKILL', outOfMemory: false });
    });

    test('starts a dead unit again', async () => {
      const { unit, address } = await startServing();
      await get(address, '/crash').catch(() => undefined);
      await expect.poll(() => exits.length, { timeout: 5_000 }).toBe(1);
      const again = await startServing();
      expect((await get(again.address, '/')).status).toBe(200);
      expect((await readUntil(unit.id, 'listening')).lines).toContain('listening');
      expect(exits).toHaveLength(1);
    });

    test('reads output from any offset without gap or repetition', async () => {
      const unit = spec(world.commands.printAndStay, { listens: false });
      await provisioner.ensure(unit);
      const first = await readUntil(unit.id, 'three');
      expect(first.lines).toEqual(['one', 'two', 'three']);
      await provisioner.stop(unit.id, 1_000);
      expect((await readAll(unit.id, first.offset)).lines).toEqual([]);
      expect((await readAll(unit.id)).lines).toEqual(['one', 'two', 'three']);
      expect(await provisioner.lastLines(unit.id, 2)).toEqual(['two', 'three']);
    });

    test('follows output as it is written, and stops when told to', async () => {
      const { unit, address } = await startServing();
      const stop = new AbortController();
      const seen: string[] = [];
      const reading = (async () => {
        for await (const { lines } of provisioner.output(unit.id, 0, stop.signal))
          seen.push(...lines.map((line) => line.text));
      })();
      await expect.poll(() => seen).toContain('listening');
      await get(address, '/say?it-again');
      await expect.poll(() => seen, { interval: 5 }).toContain('it-again');
      stop.abort();
      await reading;
    });

    test('finds its units again after a restart, and goes on as if it had started them', async () => {
      const { unit, address } = await startServing();
      const handle = await provisioner.ensure(unit);
      const { offset } = await readUntil(unit.id, 'listening');
      provisioner = await world.restart();
      provisioner.onExit((exited) => exits.push(exited));
      expect(await provisioner.recover(new Map([[unit.id, handle]]))).toEqual(new Set([unit.id]));
      expect(await provisioner.ready(unit.id, SERVES, NEVER)).toEqual(address);
      await get(address, '/say?still-here');
      expect((await readUntil(unit.id, 'still-here', offset)).lines).toEqual(['still-here']);
      await get(address, '/crash').catch(() => undefined);
      await expect.poll(() => exits.map(({ id }) => id), { timeout: 5_000 }).toEqual([unit.id]);
    });

    test('tells once of a death that nobody saw', async () => {
      const { unit } = await startServing();
      const handle = await provisioner.ensure(unit);
      await provisioner.close();
      await world.killBehind(unit.id);
      provisioner = await world.restart();
      provisioner.onExit((exited) => exits.push(exited));
      expect(await provisioner.recover(new Map([[unit.id, handle]]))).toEqual(new Set());
      await expect.poll(() => exits.map(({ id }) => id), { timeout: 5_000 }).toEqual([unit.id]);
      provisioner = await world.restart();
      provisioner.onExit((exited) => exits.push(exited));
      await provisioner.recover(new Map([[unit.id, handle]]));
      expect(exits).toHaveLength(1);
    });

    test('leaves units alone that the caller does not know', async () => {
      const { unit, address } = await startServing();
      provisioner = await world.restart();
      expect(await provisioner.recover(new Map([['dddddddddddd', 'x']]))).toEqual(new Set());
      expect(await provisioner.list()).toEqual([{ id: unit.id, app: 'shop', running: true }]);
      expect((await get(address, '/')).status).toBe(200);
    });

    test('forgets a removed unit, its output once that is read', async () => {
      const { unit } = await startServing();
      await provisioner.stop(unit.id, 5_000);
      await provisioner.remove(unit.id);
      await provisioner.remove(unit.id);
      expect(await provisioner.list()).toEqual([]);
      const { lines, offset } = await readAll(unit.id);
      expect(lines).toContain('listening');
      await provisioner.consumed(unit.id, offset);
      expect(await readAll(unit.id)).toEqual({ lines: [], offset: 0 });
    });

    test(
      'ends a unit that uses more memory than it may, and says so',
      async () => {
        const limits = { ...UNLIMITED, memoryBytes: 96 * 1024 * 1024 };
        const unit = spec(world.commands.grow, { limits });
        await provisioner.ensure(unit);
        expect((await failureOf(provisioner.ready(unit.id, SERVES, NEVER))).code).toBe('out_of_memory');
        expect(exits.map(({ id, outOfMemory }) => ({ id, outOfMemory }))).toEqual([{ id: unit.id, outOfMemory: true }]);
      },
      options.supports.memoryLimit,
    );

    test(
      'runs a command beside the units',
      async () => {
        const parts: Uint8Array[] = [];
        const request = {
          unit: spec(world.commands.serve),
          command: world.commands.runAndFail,
          output: (bytes: Uint8Array) => void parts.push(bytes),
          signal: NEVER,
          timeoutMs: 10_000,
        };
        expect(await provisioner.exec(request)).toEqual({ code: 4, signal: null });
        expect(Buffer.concat(parts).toString()).toBe('out\nerr\n');
        expect(await provisioner.list()).toEqual([]);
      },
      options.supports.shell,
    );

    test(
      'ends a command that takes too long or is not wanted any more',
      async () => {
        const request = { unit: spec(world.commands.serve), command: world.commands.runLong, output: () => undefined };
        const late = failureOf(provisioner.exec({ ...request, signal: NEVER, timeoutMs: 200 }));
        const unwanted = failureOf(
          provisioner.exec({ ...request, signal: AbortSignal.timeout(100), timeoutMs: 10_000 }),
        );
        expect([(await late).code, (await unwanted).code]).toEqual(['timeout', 'cancelled']);
      },
      options.supports.shell,
    );

    it(`has all its ${CASES} cases`, () => {
      expect(counted).toBe(CASES);
    });
  });
}

async function get(address: Address, path: string): Promise<{ status: number; body: string }> {
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  const response = await fetch(`http://${host}:${address.port}${path}`, { headers: { connection: 'close' } });
  return { status: response.status, body: await response.text() };
}
