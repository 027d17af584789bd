/** Cases of the provisioner's suite: how units start, get ready and end. */
import { expect } from 'vitest';
import type { SeenUnit } from '../../domain/units/provisioner.ts';
import { failureOf, get, NEVER, SERVES, STAYS, UNLIMITED } from './conformance-suite.ts';
import type { Suite } from './conformance-suite.ts';

/** How units start, and what they are given. */
export function startCases(s: Suite): void {
  s.test('starts a unit that serves at the address it names', async () => {
    const { address, unit } = await s.startServing();
    expect(await get(address, '/')).toEqual({ status: 200, body: 'hello' });
    expect(await s.provisioner.list()).toEqual([
      expect.objectContaining({ id: unit.id, app: 'shop', state: 'running' }) as SeenUnit,
    ]);
  });

  s.test('says of each unit where it is and where it is reached, and how it ended', async () => {
    const { unit, address } = await s.startServing();
    const deaf = s.spec(s.world.commands.printAndStay, { listens: false, id: 'bbbbbbbbbbbb', process: 'worker' });
    await s.provisioner.ensure(deaf);
    const seen = async (id: string) => (await s.provisioner.list()).find((one) => one.id === id);
    const node = expect.stringMatching(/./) as string;
    const own = { app: 'shop', node };
    expect(await seen(unit.id)).toEqual({ id: unit.id, ...own, state: 'running', address, reason: '' });
    await expect
      .poll(() => seen(deaf.id))
      .toEqual({ id: deaf.id, ...own, state: 'running', address: null, reason: '' });
    await s.provisioner.stop(unit.id, 0);
    // One that ends by itself at the first signal may have done so.
    const reason = expect.stringMatching(/^(was ended by SIG(TERM|KILL)|exited with code \d+)$/) as string;
    const ended = { id: unit.id, ...own, state: 'ended', address: null, reason };
    await expect.poll(() => seen(unit.id)).toEqual(ended);
  });

  s.testLong('ensures what runs already without a second start', async () => {
    const { unit, address } = await s.startServing();
    const handle = await s.provisioner.ensure(unit);
    expect(await s.provisioner.ensure(unit)).toBe(handle);
    expect(await s.provisioner.ready(unit.id, SERVES, NEVER)).toEqual(address);
    expect(await s.provisioner.list()).toHaveLength(1);
  });

  s.test('runs units side by side', async () => {
    const one = await s.startServing();
    const two = await s.startServing({ id: 'bbbbbbbbbbbb', name: 'shop/1' });
    expect(two.address).not.toEqual(one.address);
    expect((await get(one.address, '/')).status + (await get(two.address, '/')).status).toBe(400);
    expect(await s.provisioner.list()).toHaveLength(2);
  });

  s.testLong('keeps units of one process of a rollout apart: each ends by itself, and the others go on', async () => {
    const ids = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'cccccccccccc'];
    const units = await Promise.all(ids.map((id, n) => s.startServing({ id, name: `shop/${n}` })));
    const [one, two, three] = units;
    if (one === undefined || two === undefined || three === undefined) throw new Error('There are three.');
    expect(new Set(units.map(({ address }) => `${address.host}:${address.port}`)).size).toBe(3);
    await get(two.address, '/say?I-am-two');
    expect((await s.readUntil(two.unit.id, 'I-am-two')).lines).toContain('I-am-two');
    await s.provisioner.stop(two.unit.id, 5_000);
    expect(s.exits.map(({ id }) => id)).toEqual([two.unit.id]);
    await s.provisioner.remove(two.unit.id);
    for (const { address } of [one, three]) expect((await get(address, '/')).status).toBe(200);
    const left = [one, three].map(({ unit }) => expect.objectContaining({ id: unit.id, state: 'running' }) as SeenUnit);
    expect((await s.provisioner.list()).sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(left);
    await get(three.address, '/crash').catch(() => undefined);
    await expect.poll(() => s.exits.map(({ id }) => id)).toEqual([two.unit.id, three.unit.id]);
    expect((await get(one.address, '/')).status).toBe(200);
    const again = await s.startServing({ id: 'dddddddddddd', name: 'shop/1' });
    expect((await get(again.address, '/')).status).toBe(200);
  });

  s.testLong('says what units use that run, and nothing of others', async () => {
    const one = await s.startServing();
    const two = await s.startServing({ id: 'bbbbbbbbbbbb', name: 'shop/1' });
    await s.provisioner.stop(one.unit.id, 0);
    const usage = await s.provisioner.usage();
    expect([...usage.keys()]).toEqual([two.unit.id]);
    for (const used of Object.values(usage.get(two.unit.id) ?? {})) expect(used).toBeGreaterThanOrEqual(0);
    expect(Object.keys(usage.get(two.unit.id) ?? {}).sort()).toEqual(['cpuMs', 'memoryBytes']);
  });

  s.test('gives the unit its environment', async () => {
    const unit = s.spec(s.world.commands.printEnvironment, { listens: false, env: { GREETING: 'good day' } });
    await s.provisioner.ensure(unit);
    const [line] = (await s.firstChunk(unit.id)).lines;
    const [, name = ''] = /^shop (\S+) web good day$/.exec(line?.text ?? '') ?? [];
    expect(name).toMatch(s.unitName);
  });

  s.test('calls a unit that does not listen ready when it stays alive', async () => {
    const unit = s.spec(s.world.commands.printAndStay, { listens: false, process: 'worker' });
    await s.provisioner.ensure(unit);
    expect(await s.provisioner.ready(unit.id, STAYS, NEVER)).toBeNull();
  });

  s.test('starts a dead unit again', async () => {
    const { unit, address } = await s.startServing();
    await get(address, '/crash').catch(() => undefined);
    await expect.poll(() => s.exits.length).toBe(1);
    const again = await s.startServing();
    expect((await get(again.address, '/')).status).toBe(200);
    expect((await s.readUntil(unit.id, 'listening')).lines).toContain('listening');
    expect(s.exits).toHaveLength(1);
  });
}

/** How ready() judges. */
export function readinessCases(s: Suite): void {
  s.test('says why a unit ended before it was ready, with its last words', async () => {
    for (const listens of [true, false]) {
      const unit = s.spec(s.world.commands.exit3, { listens });
      await s.provisioner.ensure(unit);
      // However long it is watched: the verdict comes with the end.
      const check = { ...SERVES, listens, watchMs: 60_000 };
      const failure = await failureOf(s.provisioner.ready(unit.id, check, NEVER));
      expect(failure).toMatchObject({ code: 'exited', exitCode: 3 });
      expect(failure.message).toContain('3');
      expect(failure.lines).toContain('last words');
      expect(failure.hint).not.toBe('');
    }
  });

  s.test('says that nothing listens, and leaves the unit running', async () => {
    const unit = s.spec(s.world.commands.printAndStay);
    await s.provisioner.ensure(unit);
    await s.readUntil(unit.id, 'three');
    const failure = await failureOf(s.provisioner.ready(unit.id, { ...SERVES, timeoutMs: 400 }, NEVER));
    expect(failure.code).toBe('no_listener');
    expect(failure.lines).toContain('three');
    expect((await s.provisioner.list())[0]?.state).toBe('running');
  });

  const byListener = s.listeners;
  const otherPort = async () => {
    const unit = s.spec(s.world.commands.serveElsewhere);
    await s.provisioner.ensure(unit);
    const failure = await failureOf(s.provisioner.ready(unit.id, SERVES, NEVER));
    expect(failure.code).toBe('wrong_port');
    expect(failure.message).toMatch(/port \d+/);
    expect(failure.hint).toContain('$PORT');
  };
  s.test('says that the unit listens on another port, long before the deadline', otherPort, byListener);

  s.test('takes a healthy answer for ready', async () => {
    const { unit } = await s.startServing();
    for (const healthCheck of [{ path: '/' }, { path: '/', match: '^hel+o$' }, { path: '/broken', status: 500 }]) {
      expect(await s.provisioner.ready(unit.id, { ...SERVES, healthCheck }, NEVER)).not.toBeNull();
    }
  });

  s.test('fails at once on a wrong answer beyond the allowed ones', async () => {
    const { unit } = await s.startServing();
    for (const healthCheck of [
      { path: '/broken', allowedFailures: 1 },
      { path: '/', match: 'goodbye' },
    ]) {
      const failure = await failureOf(s.provisioner.ready(unit.id, { ...SERVES, healthCheck }, NEVER));
      expect(failure.code).toBe('health_check_failed');
      expect(failure.lines).toContain('listening');
    }
  });

  s.test('stops waiting when asked to', async () => {
    const unit = s.spec(s.world.commands.printAndStay);
    await s.provisioner.ensure(unit);
    const failure = await failureOf(s.provisioner.ready(unit.id, SERVES, AbortSignal.timeout(100)));
    expect(failure.code).toBe('cancelled');
  });
}

/** How probe() looks at a unit that serves. */
export function probeCases(s: Suite): void {
  const LONG_MS = 60_000;
  const SHORT_MS = 300;

  s.test('sees that a unit is well', async () => {
    const { unit, address } = await s.startServing();
    const probes = [
      { kind: 'accept', address, timeoutMs: LONG_MS },
      { kind: 'http', address, timeoutMs: LONG_MS, healthCheck: { path: '/' } },
    ] as const;
    for (const probe of [...probes, ...probes]) {
      expect(await s.provisioner.probe(unit.id, probe, NEVER)).toEqual({ kind: 'well' });
    }
  });

  s.test('sees that a unit answers nothing but errors', async () => {
    const { unit, address } = await s.startServing();
    const healthCheck = { path: '/broken' };
    const result = await s.provisioner.probe(
      unit.id,
      { kind: 'http', address, timeoutMs: LONG_MS, healthCheck },
      NEVER,
    );
    expect(result).toMatchObject({ kind: 'unwell', detail: expect.stringContaining('500') as string });
  });

  s.test('sees that a unit hangs', async () => {
    const { unit, address } = await s.startServing();
    const asked = new AbortController();
    const hanging = fetch(`http://${address.host}:${address.port}/hang`, { signal: asked.signal }).catch(() => null);
    const accepts = () => s.provisioner.probe(unit.id, { kind: 'accept', address, timeoutMs: SHORT_MS }, NEVER);
    if (s.listeners === true) {
      await expect.poll(accepts).toMatchObject({ kind: 'unwell' });
      expect(await accepts()).toMatchObject({ kind: 'unwell' });
    }
    const probe = { kind: 'http', address, timeoutMs: SHORT_MS, healthCheck: { path: '/' } } as const;
    expect(await s.provisioner.probe(unit.id, probe, NEVER)).toMatchObject({ kind: 'unwell' });
    asked.abort();
    await hanging;
  });

  s.test('says nothing of a unit that is not there', async () => {
    const { unit, address } = await s.startServing();
    await s.provisioner.stop(unit.id, 5_000);
    for (const id of [unit.id, 'cccccccccccc']) {
      const probe = { kind: 'accept', address, timeoutMs: SHORT_MS } as const;
      expect(await s.provisioner.probe(id, probe, NEVER)).toEqual({ kind: 'unknown' });
    }
  });
}

/** How units end and are forgotten. */
export function endCases(s: Suite): void {
  s.test('stops a unit and reports its exit once', async () => {
    const { unit, address } = await s.startServing();
    await s.provisioner.stop(unit.id, 5_000);
    // Where addresses lead on, somebody else may answer at one that is not there.
    const answer = await get(address, '/').catch(() => null);
    expect(answer?.body).not.toBe('hello');
    expect(await s.provisioner.list()).toEqual([
      expect.objectContaining({ id: unit.id, app: 'shop', state: 'ended' }) as SeenUnit,
    ]);
    await s.provisioner.stop(unit.id, 5_000);
    expect(s.exits.map(({ id }) => id)).toEqual([unit.id]);
  });

  s.test('kills what does not want to stop', async () => {
    const unit = s.spec(s.world.commands.stubborn, { listens: false });
    await s.provisioner.ensure(unit);
    await s.readUntil(unit.id, 'ready');
    await s.provisioner.stop(unit.id, 100);
    expect((await s.provisioner.list())[0]?.state).toBe('ended');
    expect(s.exits).toEqual([{ id: unit.id, code: null, signal: 'SIGKILL', outOfMemory: false }]);
  });

  s.test('takes stop and remove of a missing unit as done', async () => {
    await s.provisioner.stop('cccccccccccc', 100);
    await s.provisioner.remove('cccccccccccc');
    await s.provisioner.consumed('cccccccccccc', '5');
    expect(await s.provisioner.lastLines('cccccccccccc', 5)).toEqual([]);
    expect(await s.readAll('cccccccccccc')).toEqual({ lines: [], cursor: null });
  });

  s.test('says how a unit died', async () => {
    const failing = s.spec(s.world.commands.exit3, { listens: false });
    const killed = s.spec(s.world.commands.killSelf, { listens: false, id: 'bbbbbbbbbbbb' });
    await s.provisioner.ensure(failing);
    await s.provisioner.ensure(killed);
    await expect.poll(() => new Set(s.exits.map(({ id }) => id)).size).toBe(2);
    expect(s.exits).toContainEqual({ id: failing.id, code: 3, signal: null, outOfMemory: false });
    expect(s.exits).toContainEqual({ id: killed.id, code: null, signal: 'SIGKILL', outOfMemory: false });
  });

  s.test('forgets a removed unit, its output once that is read', async () => {
    const { unit } = await s.startServing();
    await s.provisioner.stop(unit.id, 5_000);
    await s.provisioner.remove(unit.id);
    await s.provisioner.remove(unit.id);
    expect(await s.provisioner.list()).toEqual([]);
    const { lines, cursor } = await s.readAll(unit.id);
    expect(lines).toContain('listening');
    await s.provisioner.consumed(unit.id, cursor ?? '');
    expect(await s.readAll(unit.id)).toEqual({ lines: [], cursor: null });
  });

  s.testLong(
    'ends a unit that uses more memory than it may, and says so',
    async () => {
      const limits = { ...UNLIMITED, memoryBytes: 96 * 1024 * 1024 };
      const unit = s.spec(s.world.commands.grow, { limits });
      await s.provisioner.ensure(unit);
      expect((await failureOf(s.provisioner.ready(unit.id, SERVES, NEVER))).code).toBe('out_of_memory');
      const reported = s.exits.map(({ id, outOfMemory }) => ({ id, outOfMemory }));
      expect(s.restarts === 'platform' ? reported : reported.slice(0, 1)).toEqual([{ id: unit.id, outOfMemory: true }]);
    },
    s.supports.memoryLimit,
  );
}
