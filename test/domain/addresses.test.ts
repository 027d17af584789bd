/** Who answers where: addresses that apps exchange, and extra host names. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { UserCaller } from '../../src/domain/caller.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';

const EVE: UserCaller = { ...ANN, email: 'eve@example.com', teams: ['other'] };
const say = (): void => {};

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.createApp('blue');
  await world.createApp('green');
});
afterEach(() => world.dispose());

const swap = (app1 = 'blue', app2 = 'green', options: { force?: boolean; cnameOnly?: boolean } = {}) =>
  world.useCases.swap.swap(ANN, app1, app2, { force: false, cnameOnly: false, ...options });
const addNames = (app: string, ...names: unknown[]) => world.useCases.cnames.add(ANN, app, names);
const removeNames = (app: string, ...names: unknown[]) => world.useCases.cnames.remove(ANN, app, names);

/** Host name -> app whose units are routed there. */
function answering(): Record<string, string> {
  const routes = world.machine.table().routes;
  return Object.fromEntries(routes.flatMap((route) => route.hosts.map((host) => [host, route.app])));
}

describe('swap', () => {
  it('exchanges addresses and host names, and back', async () => {
    await addNames('blue', 'www.example.com');
    await addNames('green', 'next.example.com');
    await swap();
    const swapped = {
      'green.apps.test': 'blue',
      'next.example.com': 'blue',
      'blue.apps.test': 'green',
      'www.example.com': 'green',
    };
    expect(answering()).toEqual(swapped);
    const shown = await world.useCases.apps.info(ANN, 'blue');
    expect([shown.app.swappedWith, shown.address]).toEqual(['green', 'green.apps.test']);
    world = await world.next();
    expect(answering()).toEqual(swapped);
    await swap('green', 'blue');
    expect(answering()).toEqual({
      'blue.apps.test': 'blue',
      'www.example.com': 'blue',
      'green.apps.test': 'green',
      'next.example.com': 'green',
    });
    await expectSound(world);
  });

  it('that the router does not learn of is stored, which the error says', async () => {
    const undo = world.faults.on('router.apply', () => Promise.reject(new Error('the router is away')));
    await expect(swap()).rejects.toMatchObject({
      code: 'unavailable',
      hint: expect.stringMatching(/^The change is stored, .*do not repeat it/) as string,
    });
    await expect(addNames('blue', 'www.example.com')).rejects.toMatchObject({
      hint: expect.stringMatching(/^The change is stored/) as string,
    });
    undo();
    await world.parts.routes.publish();
    expect(answering()).toEqual({ 'green.apps.test': 'blue', 'www.example.com': 'blue', 'blue.apps.test': 'green' });
  });

  it('of the host names alone leaves the addresses', async () => {
    await addNames('blue', 'www.example.com');
    await swap('blue', 'green', { cnameOnly: true });
    expect(answering()).toEqual({
      'blue.apps.test': 'blue',
      'green.apps.test': 'green',
      'www.example.com': 'green',
    });
    await world.remove('green');
  });

  it('is refused to apps that differ, unless forced', async () => {
    await world.deploy('blue');
    await expect(swap()).rejects.toMatchObject({
      code: 'app.swap_mismatch',
      message: "number of units doesn't match",
    });
    await world.machine.store.transact((tx) => tx.updateApp('green', { platform: 'other' }));
    await expect(swap()).rejects.toMatchObject({ code: 'app.swap_mismatch', message: "platforms don't match" });
    expect(answering()['blue.apps.test']).toBe('blue');
    await swap('blue', 'green', { force: true });
    expect(answering()['blue.apps.test']).toBe('green');
  });

  it('is refused with a third app, with itself, and to who may not touch both', async () => {
    await world.createApp('red');
    await swap();
    await expect(swap('blue', 'red')).rejects.toMatchObject({ code: 'app.swapped' });
    await expect(swap('red', 'green')).rejects.toMatchObject({ code: 'app.swapped' });
    await expect(swap('red', 'red')).rejects.toMatchObject({ code: 'input.invalid' });
    await expect(swap('red', 'gone')).rejects.toMatchObject({ code: 'app.not_found' });
    await expect(swap('', 'red')).rejects.toMatchObject({ code: 'input.invalid' });
    const options = { force: true, cnameOnly: false };
    await expect(world.useCases.swap.swap(EVE, 'blue', 'green', options)).rejects.toMatchObject({
      code: 'access.denied',
    });
  });

  it('keeps an app from being removed, unless forced: then the other one answers at its own names again', async () => {
    await addNames('blue', 'www.example.com');
    await addNames('green', 'next.example.com');
    await swap();
    await expect(world.remove('blue')).rejects.toMatchObject({ code: 'app.swapped' });
    await world.useCases.apps.remove(ANN, 'blue', say, true);
    expect(answering()).toEqual({ 'green.apps.test': 'green', 'next.example.com': 'green' });
    expect((await world.useCases.apps.info(ANN, 'green')).app.swappedWith).toBeNull();
    await expectSound(world);
  });

  it('waits for what goes on with either app, and two swaps never wait for each other for ever', async () => {
    await world.deploy('blue');
    await world.deploy('green');
    const held = world.faults.hold('provisioner.ready');
    const restarting = world.restart('green');
    await held.reached;
    const swaps = [swap('blue', 'green'), swap('green', 'blue'), swap('blue', 'green')];
    expect(answering()['blue.apps.test']).toBe('blue');
    held.release();
    await Promise.all([restarting, ...swaps]);
    expect(answering()['blue.apps.test']).toBe('green');
    await expectSound(world);
  });

  it('goes with deploys and scaling: the host names stay where they are', async () => {
    await world.deploy('blue');
    await world.deploy('green');
    await swap();
    const said: string[] = [];
    await world.deploy('blue', {}, { say: (line) => said.push(line) });
    expect(said.join('\n')).toContain('answers at http://green.apps.test');
    await world.useCases.scale.add(ANN, 'blue', { units: 1, process: '' }, say);
    expect(answering()['green.apps.test']).toBe('blue');
    await expectSound(world);
  });
});

describe('extra host names', () => {
  it('are routed at once, in lower case, sorted, and go again', async () => {
    await addNames('blue', 'WWW.Example.com.', '*.shop.example.com');
    expect((await world.useCases.apps.info(ANN, 'blue')).app.cname).toEqual(['*.shop.example.com', 'www.example.com']);
    expect(answering()['www.example.com']).toBe('blue');
    await removeNames('blue', 'www.example.com');
    expect(answering()['www.example.com']).toBeUndefined();
    await removeNames('blue');
    const many = Array.from({ length: 101 }, (_, n) => `n${n}.example.com`);
    await expect(removeNames('blue', ...many)).rejects.toMatchObject({ code: 'cname.invalid' });
    expect(answering()).toEqual({ 'blue.apps.test': 'blue', 'green.apps.test': 'green' });
  });

  it.each([
    '',
    ' ',
    7,
    null,
    'a b',
    'a/b',
    'a:80',
    'http://a.com',
    '-a.com',
    'a..b',
    '*',
    '*.com',
    '*.*.com',
    'a.*.com',
    '10.0.0.1',
    'ü.de',
    'apps.test',
    'blue.apps.test',
    '*.apps.test',
    'x.y.apps.test',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(130)}com`,
  ])('refuses %j', async (name) => {
    await expect(addNames('blue', 'good.example.com', name)).rejects.toMatchObject({ code: 'cname.invalid' });
    expect((await world.useCases.apps.info(ANN, 'blue')).app.cname).toEqual([]);
  });

  it('belong to one app, whoever is faster', async () => {
    const attempts = await Promise.allSettled([
      addNames('blue', 'www.example.com'),
      addNames('green', 'www.example.com'),
    ]);
    const failed = attempts.filter((attempt) => attempt.status === 'rejected');
    expect(failed).toMatchObject([{ reason: { code: 'cname.taken' } }]);
    await expect(addNames('blue', 'www.example.com')).rejects.toMatchObject({ code: 'cname.taken' });
  });

  it('that are not there cannot be removed; none named means the only one', async () => {
    await expect(removeNames('blue', 'www.example.com')).rejects.toMatchObject({ code: 'cname.not_found' });
    await expect(removeNames('blue')).rejects.toMatchObject({ code: 'cname.invalid' });
    await addNames('blue', 'a.example.com', 'b.example.com');
    await expect(removeNames('blue')).rejects.toMatchObject({ code: 'cname.invalid' });
    await expect(addNames('blue')).rejects.toMatchObject({ code: 'cname.invalid' });
  });
});
