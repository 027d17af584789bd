/** Shells: which unit is meant, how many there may be, and that silence ends them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createShells, type OpenShell, type ShellInput, type Shells } from '../../src/domain/apps/shells.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

let world: DomainWorld;
let stop: AbortController;
let text: string;

beforeEach(async () => {
  text = '';
  stop = new AbortController();
  world = await startDomain();
  await world.createApp('shop');
});
afterEach(async () => {
  stop.abort();
  await world.dispose();
});

const open = (input: Partial<ShellInput> = {}, shells: Shells = world.useCases.shells): Promise<OpenShell> =>
  shells.open(ANN, 'shop', {
    unit: '',
    width: '',
    height: '',
    term: '',
    isTerminal: true,
    output: (bytes) => (text += Buffer.from(bytes).toString()),
    signal: stop.signal,
    ...input,
  });
const type = (shell: OpenShell, line: string): Promise<void> => shell.write(Buffer.from(`${line}\n`));

it('opens beside the unit that is named, in its environment and in the size that is asked for', async () => {
  await expect(open()).rejects.toMatchObject({ code: 'app.not_deployed' });
  await world.setEnv('shop', { GREETING: 'hello' }, { noRestart: true });
  await world.deploy('shop', { processes: { web: 'serve', worker: 'stay' } });
  const units = await world.machine.store.units('shop');
  const worker = units.find((unit) => unit.process === 'worker');
  for (const unit of [`shop/${worker?.index}`, String(worker?.index), worker?.id ?? '', worker?.id.slice(0, 6) ?? '']) {
    const shell = await open({ unit, width: '120', height: '40' });
    await type(shell, 'print $TANCHO_PROCESS $GREETING');
    await type(shell, 'size');
    await type(shell, 'exit 3');
    expect(await shell.ended).toEqual({ code: 3, signal: null });
    expect(text).toBe('worker hello\n120x40\n');
    text = '';
  }
  for (const unit of ['99', 'shop/99', 'blog/0', 'ffffffff', worker?.id.slice(0, 3) ?? '']) {
    await expect(open({ unit }), unit).rejects.toMatchObject({ code: 'unit.not_found' });
  }
  for (const width of ['-1', 'wide', '1001', '1.5']) {
    await expect(open({ width }), width).rejects.toMatchObject({ code: 'input.invalid' });
  }
});

it('opens ten of an app at most, and as many again when they have ended', async () => {
  await world.deploy('shop');
  await Promise.all(Array.from({ length: 10 }, () => open()));
  await expect(open()).rejects.toMatchObject({ code: 'app.busy' });
  stop.abort();
  stop = new AbortController();
  await expect.poll(() => open({ signal: stop.signal }).then((shell) => shell.isTerminal)).toBe(true);
});

it('opens twenty of one user at most, whatever their apps, and others go on', async () => {
  const apps = ['shop', 'blog', 'wiki'];
  for (const app of apps) {
    if (app !== 'shop') await world.createApp(app);
    await world.deploy(app);
  }
  const { shells } = world.useCases;
  const openOf = (app: string, caller = ANN): Promise<OpenShell> =>
    shells.open(caller, app, {
      ...{ unit: '', width: '', height: '', term: '', isTerminal: true },
      output() {},
      signal: stop.signal,
    });
  await Promise.all(apps.slice(0, 2).flatMap((app) => Array.from({ length: 10 }, () => openOf(app))));
  await expect(openOf('wiki')).rejects.toMatchObject({
    code: 'too_many_requests',
    message: expect.stringContaining('shells'),
  });
  await openOf('wiki', { ...ANN, email: 'bob@example.com' } as typeof ANN);
});

it('ends a shell that nobody uses, and says why', async () => {
  await world.deploy('shop');
  const { machine, parts } = world;
  const { store, settings } = machine;
  const shells = createShells({ ...parts, store, settings, idleMs: 100, now: machine.now });
  const shell = await open({}, shells);
  expect(shell.reason()).toBe('');
  expect(await shell.ended).toEqual({ code: null, signal: 'SIGKILL' });
  expect(shell.reason()).toContain('silent');
});

it('is for the teams of the app only', async () => {
  await world.deploy('shop');
  const eve = { ...ANN, email: 'eve@example.com', teams: ['others'], isAdmin: false } as typeof ANN;
  await expect(world.useCases.shells.permitted(eve, 'shop')).rejects.toMatchObject({ code: 'access.denied' });
  const token = { kind: 'app', app: 'shop', by: '', tokenHash: '', address: '' } as const;
  await expect(world.useCases.shells.permitted(token, 'shop')).rejects.toMatchObject({ code: 'access.denied' });
});
