/**
 * Run by an ordinary user: apps in networks of their own without root, and who reaches whom. Prints what it found as one line of JSON.
 * Argument: a directory of that user's.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { allProcesses } from '../../src/lib/processes.ts';
import { probeSandbox } from '../../src/sandbox/probe.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import type { ReachedService } from '../../src/networks/networks.ts';
import { type NetworkApp, startNetworkApp } from './network-apps.ts';
import { until } from './until.ts';

const home = process.argv[2] ?? '';
const stateDir = join(home, 'state');
mkdirSync(stateDir, { recursive: true });

const probe = (asBefore: boolean): Promise<Sandbox> =>
  probeSandbox({ stateDir, home, level: 'bubblewrap', network: { mode: 'auto', allowed: [] }, asBefore });

/** What comes back from an address of this machine. */
function heard(host: string, port: number | null): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ host, port: port ?? 0 });
    socket.on('data', (bytes: Buffer) => (text += bytes.toString()));
    socket.on('error', ({ code }: NodeJS.ErrnoException) => (text ||= code ?? ''));
    socket.on('close', () => resolve(text));
  });
}

async function listenHere(host: string): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => undefined).end('here'));
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  server.unref();
  return (server.address() as AddressInfo).port;
}

interface MachineNote {
  readonly holder: { readonly pid: number };
  readonly pasta: { readonly pid: number };
}

const noted = (): MachineNote =>
  JSON.parse(readFileSync(join(stateDir, 'networks', 'machine.json'), 'utf8')) as MachineNote;
const start = (
  from: Sandbox,
  id: string,
  tenant: string,
  services: readonly ReachedService[] = [],
): Promise<NetworkApp> => startNetworkApp(from, { home, id, tenant, services });

async function pairs(apps: readonly NetworkApp[]): Promise<string[]> {
  const found: string[] = [];
  for (const from of apps) {
    for (const to of apps.filter((one) => one !== from)) {
      const address = await to.own();
      const tcp = await from.to('tcp', address, 80);
      const udp = await from.to('udp', address, 8080);
      const abstract = await from.abstract(to.id);
      for (const [kind, result] of Object.entries({ tcp, udp, abstract }))
        if (result === 'reached') found.push(`${from.id} ${kind} ${to.id}`);
    }
  }
  return found;
}

/** Beside what it is bound to, nothing of these is to be reached. */
async function ofTheMachine(app: NetworkApp, bound: number): Promise<string[]> {
  const { everywhere, loopback } = here;
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const addresses = own.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address);
  const outside = noted().pasta.pid > 0 ? gatewayOfPasta() : '';
  const asked: [string, number][] = [
    ['127.0.0.1', bound],
    ['127.0.0.1', loopback],
    ['127.0.0.1', everywhere],
    ...addresses.slice(0, 2).map((address): [string, number] => [address, everywhere]),
    [outside, bound],
    [outside, loopback],
    ['169.254.169.254', 80],
    [app.address, app.door ?? 0],
  ];
  const answers = await Promise.all(asked.map(async ([host, port]) => [host, port, await app.to('tcp', host, port)]));
  return answers.filter(([, , result]) => result === 'reached').map(([host, port]) => `${host}:${port}`);
}

/** From the command of pasta: the address by which the machine's loopback is reached. */
function gatewayOfPasta(): string {
  const words = readFileSync(`/proc/${noted().pasta.pid}/cmdline`, 'utf8').split('\0');
  return words[words.indexOf('--gateway') + 1] ?? '';
}

const here = {
  bound: await listenHere('127.0.0.1'),
  loopback: await listenHere('127.0.0.1'),
  everywhere: await listenHere('0.0.0.0'),
};
let sandbox = await probe(false);
if (!sandbox.networks) {
  console.log(JSON.stringify({ description: sandbox.description }));
  process.exit();
}
const { description } = sandbox;
const bound = [{ address: '127.0.0.1', port: here.bound }];
const apps = [
  await start(sandbox, 'shop1', 'shop', bound),
  await start(sandbox, 'shop2', 'shop', bound),
  await start(sandbox, 'blog1', 'blog'),
  await start(sandbox, 'wiki1', 'wiki'),
];
const [shop, , blog, wiki] = apps as [NetworkApp, NetworkApp, NetworkApp, NetworkApp];
const door = async (from: Sandbox, { id, address, door: at }: NetworkApp, port: number): Promise<string> => {
  await from.openDoor(id, port);
  return heard(address, at);
};

const found: Record<string, unknown> = { description };
found['closed'] = await heard(wiki.address, wiki.door);
found['doors'] = [await door(sandbox, shop, 80), await door(sandbox, blog, 8081)];
found['pairs'] = await pairs(apps);
found['bound'] = (await ofTheMachine(shop, here.bound)).map((text) => text.replace(`${here.bound}`, 'bound'));
found['unbound'] = await ofTheMachine(blog, here.bound);
await sandbox.link([{ tenant: 'shop', from: ['blog'], targets: [{ id: 'shop1', port: 80 }] }]);
const linked = sandbox.linked('blog')[0]?.address ?? '';
found['linked'] = [await blog.to('tcp', linked, 80), await wiki.to('tcp', linked, 80)];

const killed = noted().pasta;
process.kill(killed.pid, 'SIGKILL');
await until(() => noted().pasta.pid !== killed.pid, { what: 'another pasta' });
found['mended'] = await door(sandbox, shop, 80);

const before = noted();
sandbox = await probe(true);
found['adopted'] = [
  noted().holder.pid === before.holder.pid,
  await heard(shop.address, shop.door),
  await door(sandbox, wiki, 80),
];

process.kill(noted().holder.pid, 'SIGKILL');
// Addresses of the machine may change meanwhile, which is reported, too.
const isSeen = async (): Promise<boolean> => (await sandbox.networkFault())?.includes('holds') === true;
await until(isSeen, { what: 'the end of the holder to be seen' });
found['fault'] = await sandbox.networkFault();
await sandbox.mendNetworks();
await Promise.all(apps.map((app) => app.ended));
const again = await start(sandbox, 'shop3', 'shop', bound);
found['anew'] = [await door(sandbox, again, 80), await again.to('tcp', '127.0.0.1', here.bound)];
for (const app of [...apps, again]) await app.end();
await sandbox.close();
found['left'] = allProcesses()
  .filter(({ zombie, pid }) => !zombie && pid !== process.pid)
  .filter(({ pid }) => readCommand(pid).some((word) => word.includes(stateDir) || word.includes(shop.address))).length;
console.log(JSON.stringify(found));
process.exit();

function readCommand(pid: number): string[] {
  try {
    return [
      ...readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'),
      ...readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0'),
    ];
  } catch {
    return [];
  }
}
