/** Real processes in networks of their own: who reaches whom, and what is left when all is over. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipFor } from '../../test/support/skips.ts';
import { scopeOf } from '../sandbox/level-sandbox.ts';
import { probeSandbox } from '../sandbox/probe.ts';
import { findProgram } from '../lib/find-program.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { type NetworkApp, startNetworkApp } from '../../test/support/network-apps.ts';
import { directTable, UPLINK } from './address-plan.ts';
import { CLAIMS } from './range-claims.ts';
import { runTool } from '../lib/tools/run-tool.ts';
import type { ReachedService } from './networks.ts';
import { itLong } from '../../test/support/long-cases.ts';

const home = mkdtempSync(join(tmpdir(), 'tancho-networks-'));
chmodSync(home, 0o711);
const stateDir = join(home, 'state');
const scope = scopeOf(stateDir);
const sandbox = await probeSandbox({ stateDir, home, level: 'auto' });
if (!sandbox.networks) rmSync(home, { recursive: true, force: true });

type RunningApp = NetworkApp;

const PATIENT_TURNS = 20;
const COUNT = '/proc/sys/net/netfilter/nf_conntrack_count';

const start = (
  from: Sandbox,
  id: string,
  tenant: string,
  services: readonly ReachedService[] = [],
): Promise<RunningApp> => startNetworkApp(from, { home, id, tenant, services });

function listenHere(host: string): Promise<{ port: number; close(): void }> {
  const server = createServer((socket) => socket.on('error', () => undefined).end('here'));
  return new Promise((resolve) => {
    server.listen(0, host, () =>
      resolve({ port: (server.address() as AddressInfo).port, close: () => server.close() }),
    );
  });
}

/** Those of others come and go meanwhile. */
function claimOf(name: string): string {
  try {
    return readFileSync(join(CLAIMS, name), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** What there is of this home on the machine. */
async function leftOvers(): Promise<string[]> {
  const ip = findProgram('ip') ?? '';
  const [rules, routes, tables] = await Promise.all([
    runTool([ip, 'rule']),
    runTool([ip, 'route', 'show', 'table', 'all']),
    runTool([findProgram('nft') ?? '', 'list', 'tables']),
  ]);
  const claims = existsSync(CLAIMS) ? readdirSync(CLAIMS) : [];
  return [
    ...(existsSync('/run/netns') ? readdirSync('/run/netns') : []),
    ...readdirSync('/sys/class/net'),
    ...routes.split('\n'),
    ...tables.split('\n'),
    ...claims.map(claimOf),
    ...rules.split('\n'),
  ].filter((line) => line.includes(scope) || line.includes(`lookup ${directTable(scope)}`));
}

describe('networks of their own', skipFor(!sandbox.networks && sandbox.description), () => {
  const apps: RunningApp[] = [];
  const here = new Map<string, { port: number; close(): void }>();
  const ownAddress = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ family, internal, address }) => family === 'IPv4' && !internal && !/^(?:100|10)\./.test(address))?.address;

  beforeAll(async () => {
    for (const host of ['0.0.0.0', '127.0.0.1', '127.0.0.1 bound']) {
      here.set(host, await listenHere(host.split(' ')[0] ?? ''));
    }
    const bound = { address: '127.0.0.1', port: here.get('127.0.0.1 bound')?.port ?? 0 };
    const starts = ['shop', 'blog', 'wiki'].flatMap((tenant) =>
      [1, 2, 3].map((number) => start(sandbox, `${tenant}${number}`, tenant, tenant === 'shop' ? [bound] : [])),
    );
    apps.push(...(await Promise.all(starts)));
  });
  afterAll(async () => {
    await Promise.all(apps.map((app) => app.end()));
    for (const { close } of here.values()) close();
    await sandbox.close();
    const left = await leftOvers();
    rmSync(home, { recursive: true, force: true });
    expect(left).toEqual([]);
  });

  it('lets all of them listen on the same ports, also below 1024, and have the same abstract socket', () => {
    expect(new Set(apps.map(({ address }) => address)).size).toBe(9);
    expect(apps.flatMap(({ lines }) => lines)).toEqual(apps.map(() => 'listening'));
  });

  it.each(['tcp', 'udp'] as const)('connects units of one app by %s, and no others', async (kind) => {
    const port = kind === 'tcp' ? 80 : 8080;
    const pairs = apps.flatMap((from) => apps.map((to) => ({ from, to })));
    const results = await Promise.all(
      pairs.map(({ from, to }) => {
        const ask = (): Promise<string> => from.to(kind, to.address, port);
        return from.tenant === to.tenant ? patiently(ask) : ask();
      }),
    );
    const wrong = pairs.filter(({ from, to }, index) => (results[index] === 'reached') !== (from.tenant === to.tenant));
    expect(wrong.map(({ from, to }) => `${from.id} -> ${to.id}`)).toEqual([]);
  });

  it('asks for no neighbours on the links of units, for the kernel keeps so many answers for the whole machine', async () => {
    const [first] = apps;
    expect(await Promise.all(apps.slice(1, 3).map((app) => app.to('tcp', first?.address ?? '', 80)))).toEqual(
      Array(2).fill('reached'),
    );
    const states: Record<string, string[]> = {};
    for (const name of readdirSync('/run/netns').filter((one) => one.includes(scope))) {
      const argv = [findProgram('nsenter') ?? '', `--net=/run/netns/${name}`, '--', findProgram('ip') ?? ''];
      const known = JSON.parse(await runTool([...argv, '-json', '-4', 'neigh'])) as { dev: string; state: string[] }[];
      // The one link of the home to the machine asks as usual.
      for (const { dev, state } of known) if (dev !== UPLINK) states[`${name} ${dev}`] = state;
    }
    expect(Object.keys(states).length).toBeGreaterThan(apps.length);
    expect(new Set(Object.values(states).flat())).toEqual(new Set(['PERMANENT']));
  });

  it('connects a linked app to those it is linked to, by their common address, and nobody else', async () => {
    const of = (tenant: string): RunningApp[] => apps.filter((app) => app.tenant === tenant);
    // They listen there on their loopback only, as far as requests from outside go.
    const targets = of('wiki').map(({ id }) => ({ id, port: 8081 }));
    await sandbox.link([{ tenant: 'wiki', from: ['shop'], targets }]);
    const [{ address: common = '' } = {}] = sandbox.linked('shop');
    expect(sandbox.linked('blog')).toEqual([]);
    const [shop, blog, wiki] = [of('shop')[0], of('blog')[0], of('wiki')[0]];
    for (let turn = 0; turn < 4; turn += 1) expect(await shop?.to('tcp', common, 80)).toBe('reached');
    expect(await patiently(async () => shop?.to('udp', common, 8080))).toBe('reached');
    expect(await blog?.to('tcp', common, 80)).not.toBe('reached');
    expect(await shop?.to('tcp', wiki?.address ?? '', 80)).not.toBe('reached');
    expect(await wiki?.to('tcp', shop?.address ?? '', 80)).not.toBe('reached');
    await sandbox.link([{ tenant: 'wiki', from: ['shop'], targets: [] }]);
    expect(await shop?.to('tcp', common, 80)).not.toMatch(/reached|silence/);
    await sandbox.link([{ tenant: 'wiki', from: ['shop'], targets }]);
    expect(sandbox.linked('shop')).toEqual([{ tenant: 'wiki', address: common }]);
    await sandbox.link([]);
    expect(await shop?.to('tcp', common, 80)).not.toBe('reached');
  });

  it('is reached from here, also where it listens on its loopback only, and by no other user', async () => {
    const [app, known = 0] = [apps[0], await apps[0]?.tracked()];
    for (const port of [80, 8081]) {
      expect(await connects(process.geteuid?.() ?? 0, app?.address ?? '', port)).toBe('reached');
      expect(await app?.tracked()).toBeLessThanOrEqual(known);
      expect(await connects(65_534, app?.address ?? '', port)).not.toBe('reached');
    }
    expect(await apps[1]?.to('tcp', app?.address ?? '', 8081)).not.toBe('reached');
  });

  itLong('is reached from here by a link of its own; one without such a link, by the gateway', async () => {
    const [app, ip] = [apps[0], findProgram('ip') ?? ''];
    const linkTo = async (address: string): Promise<string> =>
      /dev (\S+)/.exec(await runTool([ip, 'route', 'get', address, 'ipproto', 'tcp']))?.[1] ?? '';
    const direct = await linkTo(app?.address ?? '');
    expect(direct).toMatch(`tnc-${scope}`);
    // Servers of before made none.
    await runTool([ip, 'link', 'del', direct]);
    expect(await linkTo(app?.address ?? '')).toBe(`tnc-${scope}`);
    for (const port of [80, 8081]) {
      expect(await connects(process.geteuid?.() ?? 0, app?.address ?? '', port)).toBe('reached');
      expect(await connects(65_534, app?.address ?? '', port)).not.toBe('reached');
    }
  });

  it('reaches what is beyond this machine', async () => {
    const [ip, nsenter] = [findProgram('ip') ?? '', findProgram('nsenter') ?? ''];
    const name = `beyond-${process.pid}`;
    const link = `bynd${process.pid % 1e7}`;
    const address = (last: number): string => `203.0.113.${(process.pid % 60) * 4 + last}`;
    const inside = [nsenter, `--net=/run/netns/${name}`, '--'];
    await runTool([ip, 'netns', 'add', name]);
    try {
      await runTool([ip, 'link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name]);
      await runTool([ip, 'addr', 'add', `${address(1)}/30`, 'dev', link]);
      writeFileSync(`/proc/sys/net/ipv4/conf/${link}/forwarding`, '1');
      await runTool([ip, 'link', 'set', link, 'up']);
      await runTool([...inside, ip, 'addr', 'add', `${address(2)}/30`, 'dev', 'eth0']);
      await runTool([...inside, ip, 'link', 'set', 'eth0', 'up']);
      const [file = '', ...args] = inside;
      const server = `require('node:net').createServer((socket) => socket.end('here')).listen(80, () => console.log('up'))`;
      const child = spawn(file, [...args, process.execPath, '-e', server], { stdio: ['ignore', 'pipe', 'inherit'] });
      try {
        await once(child.stdout, 'data');
        for (const app of apps.slice(0, 3)) expect(await app.to('tcp', address(2), 80)).toBe('reached');
      } finally {
        child.kill();
        await once(child, 'exit');
      }
    } finally {
      await runTool([ip, 'netns', 'del', name]);
    }
  });

  itLong('leaves the address of a unit that has died to nobody, whoever listens on its port', async () => {
    for (let round = 1; round <= 4; round += 1) {
      const victim = await start(sandbox, `victim${round}`, 'victim');
      expect(await connects(process.geteuid?.() ?? 0, victim.address, 80)).toBe('reached');
      await victim.end();
      const successor = await start(sandbox, `successor${round}`, 'wiki');
      expect(await connects(process.geteuid?.() ?? 0, victim.address, 80)).not.toBe('reached');
      await successor.end();
    }
  });

  it('reaches nothing of this machine by any of its addresses, nor link-local ones', async () => {
    const port = here.get('0.0.0.0')?.port ?? 0;
    const gateway = (apps[0]?.address ?? '').replace(/\.\d+$/, '');
    const numbers = [1, 2, 3, 63].map((number) => `${gateway}.${number}`);
    const hosts = [...numbers, ...(ownAddress ? [ownAddress] : [])];
    for (const app of [apps[1], apps[4]]) {
      expect(await app?.to('tcp', '127.0.0.1', port)).not.toBe('reached');
      for (const host of hosts) expect([host, await app?.to('tcp', host, port)]).not.toEqual([host, 'reached']);
      const directly = [...hosts.map((host) => [host, port] as const), [apps[2]?.address ?? '', 80] as const];
      const results = await Promise.all(directly.map(([host, at]) => app?.to('directly', host, at)));
      expect(results).toEqual(directly.map(() => expect.stringMatching(/^(?:silence|refused)/)));
      expect(await app?.to('tcp', '169.254.169.254', 80)).not.toMatch(/reached|silence/);
    }
  });

  it('reaches a bound service on the loopback of this machine, as nobody else does', async () => {
    const port = here.get('127.0.0.1 bound')?.port ?? 0;
    expect(await apps.find(({ tenant }) => tenant === 'shop')?.to('tcp', '127.0.0.1', port)).toBe('reached');
    const other = apps.find(({ tenant }) => tenant === 'blog');
    expect(await other?.to('tcp', '127.0.0.1', port)).not.toBe('reached');
    const standIn = (other?.address ?? '').replace(/\.\d+$/, '');
    for (const last of [3, 4, 5]) expect(await other?.to('tcp', `${standIn}.${last}`, port)).not.toBe('reached');
    const neighbour = here.get('127.0.0.1')?.port ?? 0;
    expect(await apps.find(({ tenant }) => tenant === 'shop')?.to('tcp', '127.0.0.1', neighbour)).not.toBe('reached');
  });

  itLong('takes no more of the tables of connections than its part: who floods them stops nobody', async () => {
    const counted = async (): Promise<number> =>
      Number(await runTool([findProgram('ip') ?? '', 'netns', 'exec', `tancho-${scope}`, 'cat', COUNT]));
    const shop = apps.find(({ tenant }) => tenant === 'shop');
    const port = here.get('127.0.0.1 bound')?.port ?? 0;
    const before = await counted();
    expect(await apps[4]?.flood('198.51.100', 12_000)).toBe('sent');
    const taken = (await counted()) - before;
    expect([taken, taken > 3_000, taken < 10_000]).toEqual([taken, true, true]);
    expect(await shop?.to('tcp', '127.0.0.1', port)).toBe('reached');
  });

  itLong('has the kernel keep few connections for its own network, whatever it sends', async () => {
    const [shop, other] = [apps.find(({ tenant }) => tenant === 'shop'), apps[4]];
    for (const network of ['127.0.1', '198.51.100']) expect(await other?.flood(network, 3_000)).toBe('sent');
    expect(await other?.tracked()).toBeLessThan(1_000);
    expect(await shop?.floodPort(here.get('127.0.0.1 bound')?.port ?? 0)).toBe('sent');
    const kept = (await shop?.tracked()) ?? 0;
    expect([kept, kept > 1_000, kept < 9_000]).toEqual([kept, true, true]);
  });

  it('notices that its filter on the machine was emptied, in part or whole, and makes it anew', async () => {
    const nft = findProgram('nft') ?? '';
    expect(await sandbox.networkFault()).toBeNull();
    await runTool([nft, 'flush', 'chain', 'ip', `tancho_${scope}`, 'output']);
    expect(await sandbox.networkFault()).toMatch(/changed/);
    await sandbox.mendNetworks();
    expect(await sandbox.networkFault()).toBeNull();
    await runTool([nft, 'delete', 'table', 'ip', `tancho_${scope}`]);
    expect(await sandbox.networkFault()).toMatch(/not on the machine/);
    await sandbox.mendNetworks();
    expect(await sandbox.networkFault()).toBeNull();
    expect(await connects(65_534, apps[0]?.address ?? '', 80)).not.toBe('reached');
    await runTool([findProgram('ip') ?? '', 'rule', 'del', 'lookup', `${directTable(scope)}`]);
    expect(await sandbox.networkFault()).toMatch(/without the gateway/);
    await sandbox.mendNetworks();
    expect(await sandbox.networkFault()).toBeNull();
  });

  it('leaves a network to the unit in it when another platform process of the home comes, and removes empty ones', async () => {
    const named = (): string[] => readdirSync('/run/netns').filter((name) => name.includes(scope));
    // The gateway and the one that is prepared: those with somebody in them need no name.
    await expect.poll(() => named().length, { timeout: 60_000 }).toBe(2);
    const before = named();
    const notes = join(stateDir, 'networks');
    const lost = {
      index: 4000,
      id: 'lost',
      tenant: 'x',
      endpoints: [],
      forwards: [],
      local: [],
      by: { pid: 1, start: '0' },
    };
    writeFileSync(join(notes, '4000.json'), JSON.stringify(lost));
    await runTool([findProgram('ip') ?? '', 'netns', 'add', `tancho-${scope}-4000`]);
    const next = await probeSandbox({ stateDir, home, level: 'auto' });
    await next.close();
    expect(named()).toEqual(before);
    expect(existsSync(join(notes, '4000.json'))).toBe(false);
    expect(await apps[0]?.to('tcp', apps[1]?.address ?? '', 80)).toBe('reached');
  });

  itLong('leaves their networks to units whose platform process is dead, as long as they run', async () => {
    const [one, other] = [await start(sandbox, 'orphan1', 'orphan'), await start(sandbox, 'orphan2', 'orphan')];
    const notes = join(stateDir, 'networks');
    const noteOf = (id: string): string | undefined =>
      readdirSync(notes).find((name) => readFileSync(join(notes, name), 'utf8').includes(`"id":"${id}"`));
    const isSettled = (id: string): boolean => readFileSync(join(notes, noteOf(id) ?? ''), 'utf8').includes('"inode":');
    await expect.poll(() => isSettled('orphan1') && isSettled('orphan2'), { timeout: 60_000 }).toBe(true);
    const orphan = (id: string): void => {
      const path = join(notes, noteOf(id) ?? '');
      const note = JSON.parse(readFileSync(path, 'utf8')) as object;
      writeFileSync(path, JSON.stringify({ ...note, by: { pid: 1, start: '0' } }));
    };
    for (const id of ['orphan1', 'orphan2']) orphan(id);
    const next = await probeSandbox({ stateDir, home, level: 'auto' });
    await next.close();
    expect(await one.to('tcp', other.address, 80)).toBe('reached');
    await Promise.all([one.end(), other.end()]);
    expect(noteOf('orphan1')).toBeUndefined();
  });
});

itLong(
  'removes what a home has left that is gone, and nothing of another',
  skipFor(!sandbox.networks && sandbox.description),
  async () => {
    const gone = mkdtempSync(join(tmpdir(), 'tancho-gone-'));
    chmodSync(gone, 0o711);
    const state = join(gone, 'state');
    await probeSandbox({ stateDir: state, home: gone, level: 'auto' });
    const isLeft = (): boolean => readdirSync('/run/netns').some((name) => name.includes(scopeOf(state)));
    // Until the network that is prepared ahead is there.
    await expect.poll(isLeft).toBe(true);
    await expect.poll(() => readdirSync(join(state, 'networks')).length).toBe(1);
    rmSync(gone, { recursive: true, force: true });
    const other = mkdtempSync(join(tmpdir(), 'tancho-other-'));
    chmodSync(other, 0o711);
    try {
      await (await probeSandbox({ stateDir: join(other, 'state'), home: other, level: 'auto' })).close();
      expect(isLeft()).toBe(false);
    } finally {
      rmSync(other, { recursive: true, force: true });
    }
  },
);

itLong(
  'makes anew what was killed while it made the gateway',
  skipFor(!sandbox.networks && sandbox.description),
  async () => {
    const killed = mkdtempSync(join(tmpdir(), 'tancho-killed-'));
    chmodSync(killed, 0o711);
    const state = join(killed, 'state');
    const [ip, name] = [findProgram('ip') ?? '', scopeOf(state)];
    try {
      await runTool([ip, 'netns', 'add', `tancho-${name}`]);
      const link = ['link', 'add', `tnc-${name}`, 'type', 'veth', 'peer', 'name', 'host0', 'netns', `tancho-${name}`];
      await runTool([ip, ...link]);
      const next = await probeSandbox({ stateDir: state, home: killed, level: 'auto' });
      await next.close();
      expect(next.description).toContain('networks: own');
      expect(readdirSync('/run/netns').filter((known) => known.includes(name))).toEqual([]);
    } finally {
      rmSync(killed, { recursive: true, force: true });
    }
  },
);

/** UDP that is not answered for two seconds is silence; whoever is to be reached may need longer on a busy machine. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  let result = await ask();
  for (let turn = 0; turn < PATIENT_TURNS && result === 'silence'; turn += 1) result = await ask();
  return result;
}

/** As a user of this machine. */
async function connects(uid: number, host: string, port: number): Promise<string> {
  const script = `
    const socket = require('node:net').connect({ host: ${JSON.stringify(host)}, port: ${port}, timeout: 20000 });
    const settle = (answer) => { console.log(answer); process.exit(0); };
    socket.on('data', () => settle('reached')).on('error', ({ code }) => settle(code)).on('timeout', () => settle('silence'));
  `;
  const child = spawn('/usr/bin/env', ['node', '-e', script], { uid, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (bytes: Buffer) => (text += bytes.toString()));
  await new Promise((resolve) => child.once('close', resolve));
  return text.trim();
}
