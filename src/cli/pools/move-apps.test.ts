/** `tancho migrate --pool`, against the API over real use cases: apps go to another engine, and back. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CliWorld, type Ran } from '../../../test/support/cli-world.ts';
import { type DomainApi, startDomainApi } from '../../../test/support/domain-api.ts';
import { ANN } from '../../../test/support/domain-world.ts';
import { ADMIN } from '../../../test/support/memory-api.ts';
import { createClient } from '../../client/client.ts';
import { Failure } from '../../domain/failure.ts';

let api: DomainApi;
let cli: CliWorld;
let token: string;
beforeEach(async () => {
  [api, cli] = [await startDomainApi(), new CliWorld()];
  token = await createClient({ baseUrl: api.baseUrl }).users.login(ADMIN.email, ADMIN.password);
  await api.world.useCases.pools.create({ kind: 'platform' }, { name: 'prod', isPublic: true, engine: 'elsewhere' });
  for (const app of ['cart', 'shop', 'till']) {
    await api.world.createApp(app);
    await api.deploy(app);
  }
});
afterEach(async () => {
  cli.dispose();
  await api.dispose();
});

const migrate = (...argv: string[]): Promise<Ran> =>
  cli.run(['migrate', ...argv], { env: { TANCHO_TARGET: api.baseUrl, TANCHO_TOKEN: token } });
const pools = async (): Promise<string[]> => (await api.world.machine.store.apps()).map(({ pool }) => pool);
/** Apps with units elsewhere. */
const elsewhere = (): string[] => {
  const all = [...api.world.machine.elsewhere.entries.values()].filter(({ unit }) => unit.exit === null);
  return [...new Set(all.map(({ spec }) => spec.app))].sort();
};

it('moves every app of another engine, names each, and how to return; the same again does nothing', async () => {
  const { code, out } = await migrate('--pool', 'prod');
  expect([code, await pools(), elsewhere()]).toEqual([0, ['prod', 'prod', 'prod'], ['cart', 'shop', 'till']]);
  expect(out).toMatch(/^3 apps to move to the pool prod\.\n1\/3 cart +moved in .* s\n2\/3 shop .*\n3\/3 till/);
  expect(out).toContain('The way back: tancho migrate --pool default --from prod\n');
  expect(out).toContain('docs/controls.md');
  expect((await migrate('--pool', 'prod')).out).toMatch(/^All of them are in the pool prod\.\n/);
  const back = await migrate('--pool', 'default', '--from', 'prod');
  await api.world.settled();
  expect([back.code, await pools(), elsewhere()]).toEqual([0, ['default', 'default', 'default'], []]);
});

it('says what cannot be moved before anything begins, moves all else, and goes on when it can be', async () => {
  await api.world.useCases.links.add(ANN, 'cart', 'shop', () => {});
  const { code, out, err } = await migrate('--pool', 'prod');
  expect([code, await pools()]).toEqual([1, ['default', 'default', 'prod']]);
  expect(err).toContain('cart cannot be moved to that pool: cart reaches shop on the engine');
  expect(err).toContain('Hint: Unlink them first: tancho app unlink cart shop.');
  expect(out).toMatch(/^1 app to move to the pool prod\.\n/);
  expect(out).toContain('The same command again goes on with those that stay.');
  await api.world.useCases.links.remove(ANN, 'cart', 'shop', () => {});
  expect((await migrate('--pool', 'prod')).out).toContain('2 apps moved to the pool prod, 1 was there, 0 stay.\n');
});

it('moves the apps that are named, and names them for the way back where the pool has others', async () => {
  await migrate('--pool', 'prod', '-a', 'till');
  const { code, out } = await migrate('--pool', 'prod', '-a', 'shop', '-a', 'till');
  expect([code, await pools()]).toEqual([0, ['default', 'prod', 'prod']]);
  expect(out).toContain('The way back: tancho migrate --pool default -a shop\n');
});

it('an app that does not start there stays where it serves, and the next ones move', async () => {
  let starts = 0;
  const undo = api.world.faults.on('provisioner.ready', () => {
    starts += 1;
    if (starts === 2) throw new Failure('no_listener', 'Nothing listens.');
  });
  const { code, err } = await migrate('--pool', 'prod');
  undo();
  expect([code, await pools()]).toEqual([1, ['prod', 'default', 'prod']]);
  expect(err).toContain('shop stays where it is: ');
});

it.each([
  [['--pool', 'nowhere'], 1, 'There is no pool nowhere.'],
  [['--pool', 'prod', '-a', 'none'], 1, 'App none not found.'],
  [['--pool', 'prod', '--to', 'sqlite'], 2, 'one after the other'],
  [['-a', 'shop'], 2, 'Say to which pool'],
])('%j is refused', async (argv, exit, text) => {
  const { code, err } = await migrate(...argv);
  expect([code, await pools()]).toEqual([exit, ['default', 'default', 'default']]);
  expect(err).toContain(text);
});
