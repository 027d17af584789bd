import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliWorld } from '../../../test/support/cli-world.ts';
import { ConfigError } from '../../config/config-error.ts';
import { claimMove } from '../../lib/move-claim.ts';
import type { RunningServer, ServerDoor, StopSignal } from './door.ts';

let world: CliWorld;
beforeEach(() => {
  world = new CliWorld();
});
afterEach(() => world.dispose());

/** A server of nothing but its doors: notes how it was stopped, and lets the test send signals. */
function door(parts: Partial<RunningServer> = {}) {
  const listeners: ((signal: StopSignal) => void)[] = [];
  const events: string[] = [];
  const server: RunningServer = {
    ready: { apiUrl: 'http://127.0.0.1:8080', edgeAddress: '127.0.0.1:8000', sshAddress: '127.0.0.1:2222' },
    firstAdmin: null,
    passwordGiven: false,
    domain: 'localhost',
    isolation: 'plain: no isolation between apps',
    whyEnding: () => null,
    stop: async (how) => void events.push(`stop ${how}`),
    ...parts,
  };
  const own: ServerDoor = {
    startEdge: () => Promise.reject(new Error('this test runs no edge')),
    pushProgram: () => Promise.reject(new Error('this test pushes no image')),
    checkMove: () => Promise.reject(new Error('this test moves nothing')),
    bringAhead: () => Promise.reject(new Error('this test moves nothing')),
    moveState: () => Promise.reject(new Error('this test moves nothing')),
    start: async () => server,
    onSignal: (listener) => void listeners.push(listener),
    exit: (code) => void events.push(`exit ${code}`),
    again: (args = []) => void events.push(['again', ...args].join(' ')),
  };
  return { own, events, send: (signal: StopSignal) => listeners.forEach((listener) => listener(signal)) };
}

/** Runs the server until it has said that it is ready, then sends the signal. */
async function runAndSend(signal: StopSignal, parts: Partial<RunningServer> = {}) {
  const { own, events, send } = door(parts);
  let sent = false;
  const ran = await world.run(['server'], {
    server: own,
    onOut: (text) => {
      if (sent || !text.includes('Home:')) return;
      sent = true;
      setImmediate(() => send(signal));
    },
  });
  return { ...ran, events };
}

it('a server that was stopped for a move of its state begins anew', async () => {
  await mkdir(join(world.home, 'run'));
  const end = await claimMove(world.home);
  expect((await runAndSend('SIGTERM')).events).toEqual(['stop leave-units', 'again']);
  expect((await runAndSend('SIGINT')).events).toEqual(['stop all']);
  await end();
  expect((await runAndSend('SIGTERM')).events).toEqual(['stop leave-units']);
});

describe('signals', () => {
  it.each<[StopSignal, string]>([
    ['SIGINT', 'stop all'],
    ['SIGTERM', 'stop leave-units'],
    ['SIGHUP', 'stop leave-units'],
  ])('%s: %s', async (signal, expected) => {
    const { code, events } = await runAndSend(signal);
    expect({ code, events }).toEqual({ code: 0, events: [expected] });
  });

  it('a signal during the start is obeyed after it', async () => {
    const { own, events, send } = door();
    const start = own.start;
    const early = { ...own, start: async () => (send('SIGTERM'), await start()) };
    expect((await world.run(['server'], { server: early })).code).toBe(0);
    expect(events).toEqual(['stop leave-units']);
  });

  it('one Ctrl-C that arrives twice forces nothing, a later one does', async () => {
    let finish = (): void => {};
    let stopping = (): void => {};
    const begun = new Promise<void>((resolve) => (stopping = resolve));
    const { own, events, send } = door({
      stop: () =>
        new Promise((resolve) => {
          finish = resolve;
          stopping();
        }),
    });
    const ready = (text: string) => text.includes('Home:') && setImmediate(() => send('SIGINT'));
    const ran = world.run(['server'], { server: own, onOut: ready });
    await begun;
    send('SIGINT');
    expect(events).toEqual([]);
    const begunAt = Date.now();
    while (events.length === 0 && Date.now() - begunAt < 5000) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      send('SIGINT');
    }
    expect(events[0]).toBe('exit 130');
    expect(Date.now() - begunAt).toBeGreaterThan(800);
    finish();
    await ran;
  });
});

it('a server that ends by itself says why on standard error and begins anew; where it cannot, it ends with 1', async () => {
  const { code, err, events } = await runAndSend('SIGTERM', { whyEnding: () => 'Another one has gone on.' });
  expect({ code, err, events }).toEqual({
    code: 1,
    err: 'Warning: Another one has gone on.\n',
    events: ['stop leave-units', 'again'],
  });
});

it('a server that ends by itself ends for good when somebody asks for that meanwhile', async () => {
  let ask = (): void => {};
  const { own, events, send } = door({ whyEnding: () => 'Another one has gone on.', stop: async () => ask() });
  ask = () => send('SIGTERM');
  const ready = (text: string) => text.includes('Home:') && setImmediate(() => send('SIGTERM'));
  const { code } = await world.run(['server'], { server: own, onOut: ready });
  expect({ code, events }).toEqual({ code: 0, events: [] });
});

it.each(['SIGTERM', 'SIGHUP'] as const)(
  'Ctrl-C while a server stops that leaves the apps, by %s, ends the apps, too',
  async (first) => {
    for (const whyEnding of [() => null, () => 'Another one has gone on.']) {
      let ask = (): void => {};
      const { own, events, send } = door({ whyEnding, stop: async () => ask() });
      ask = () => send('SIGINT');
      const ready = (text: string) => text.includes('Home:') && setImmediate(() => send(first));
      const { err } = await world.run(['server'], { server: own, onOut: ready });
      expect(events).toEqual(['again server stop --all']);
      expect(err).toContain('tancho server stop --all');
    }
  },
);

it('Ctrl-C just before a server begins anew, because its state is being moved, ends it and the apps', async () => {
  await mkdir(join(world.home, 'run'), { recursive: true });
  const end = await claimMove(world.home);
  let ask = (): void => {};
  const { own, events, send } = door({ stop: async () => ask() });
  // Once nothing can go on before a file is read.
  ask = () => process.nextTick(() => send('SIGINT'));
  const ready = (text: string) => text.includes('Home:') && setImmediate(() => send('SIGTERM'));
  await world.run(['server'], { server: own, onOut: ready });
  await end();
  expect(events).toEqual(['again server stop --all']);
});

describe('what it prints', () => {
  it('the addresses', async () => {
    const { out } = await runAndSend('SIGTERM');
    expect(out).toMatch(/^Tancho 9\.9\.9 is ready\.$/m);
    expect(out).toMatch(/^API: +http:\/\/127\.0\.0\.1:8080$/m);
    expect(out).toMatch(/^Apps: +http:\/\/<app>\.localhost:8000$/m);
    expect(out).not.toContain('Password');
  });

  it('the generated password of the first admin, once', async () => {
    const { out } = await runAndSend('SIGTERM', { firstAdmin: { email: 'a@b.cc', password: 'gen-erated' } });
    expect(out).toMatch(/^Admin: +a@b\.cc\nPassword: +gen-erated {3}\(shown only this once\)$/m);
  });

  it('never a password that the operator has chosen', async () => {
    const firstAdmin = { email: 'a@b.cc', password: 'chosen' };
    const { out } = await runAndSend('SIGTERM', { firstAdmin, passwordGiven: true });
    expect(out).not.toContain('chosen');
    expect(out).toContain('a@b.cc');
  });
});

it('a start that fails is one clear line, exit code 1', async () => {
  const { own } = door();
  const failing = {
    ...own,
    start: () => Promise.reject(new ConfigError('TANCHO_DOMAIN must be a name.', 'Correct it.')),
  };
  const { code, out, err } = await world.run(['server'], { server: failing });
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toBe('Error: TANCHO_DOMAIN must be a name.\n  Hint: Correct it.\n');
});
