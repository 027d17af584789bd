/** Programs in networks of their own that connect where they are asked to, for tests. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ReachedService } from '../../src/networks/networks.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { until } from './until.ts';

/** Listens on tcp, udp and an abstract socket, and for HTTP at 8082; carries out the commands on its input, and prints how that went. */
const APP = `
const net = require('node:net'), dgram = require('node:dgram');
let requests = 0;
require('node:http').createServer((_, response) => { requests += 1; response.end(process.env.TEST_NAME); }).listen(8082, '0.0.0.0');
const echo = (socket) => socket.on('error', () => {}).end('here');
net.createServer(echo).listen(80, '0.0.0.0', () => console.log('listening'));
net.createServer(echo).listen(8081, '127.0.0.1');
for (const name of ['test', process.env.TEST_NAME])
  net.createServer(echo).listen('\\0tancho-' + name).on('error', ({ code }) => console.log('abstract ' + code));
const udp = dgram.createSocket('udp4').on('message', (_, from) => udp.send('here', from.port, from.address));
udp.bind(8080);
const tcpTo = (host, port) => connectTo({ host, port });
const connectTo = (address) => new Promise((resolve) => {
  const socket = net.connect({ ...address, timeout: 60000 });
  const settle = (answer) => { socket.destroy(); resolve(answer); };
  socket.on('data', () => settle('reached')).on('error', ({ code }) => settle(code)).on('timeout', () => settle('silence'));
});
const udpTo = (host, port, tries = 40) => new Promise((resolve) => {
  const socket = dgram.createSocket('udp4');
  let timer;
  const settle = (answer) => { clearInterval(timer); socket.close(); resolve(answer); };
  socket.on('message', () => settle('reached')).on('error', ({ code }) => settle(code));
  socket.connect(port, host, () => {
    const send = () => (tries-- > 0 ? socket.send('hello') : settle('silence'));
    send();
    timer = setInterval(send, 50);
  });
});
const kept = dgram.createSocket('udp4');
kept.on('error', () => {});
/** Always by the same socket. */
const keptTo = (host, port, tries = 40) => new Promise((resolve) => {
  const settle = (answer) => { clearInterval(timer); kept.removeAllListeners('message'); resolve(answer); };
  kept.on('message', () => settle('reached'));
  const send = () => (tries-- > 0 ? kept.send('hello', port, host) : settle('silence'));
  send();
  const timer = setInterval(send, 50);
});
/** To so many ports of a network. */
const flood = async (network, count) => {
  const socket = dgram.createSocket('udp4').on('error', () => {});
  for (let sent = 0; sent < count; sent += 1)
    await new Promise((resolve) => socket.send('x', 1024 + (sent % 60000), network + '.' + (1 + (sent % 250)), resolve));
  socket.close();
  return 'sent';
};
/** To one port of its loopback, from as many others. */
const floodPort = async (port, count) => {
  for (let sent = 0; sent < count; sent += 1) {
    const socket = dgram.createSocket('udp4').on('error', () => {});
    await new Promise((resolve) => socket.send('x', port, '127.0.0.1', resolve));
    socket.close();
  }
  return 'sent';
};
/** In the kernel's table of connections. */
const tracked = () => Number(require('node:fs').readFileSync('/proc/sys/net/netfilter/nf_conntrack_count', 'utf8'));
/** Insists on the direct link to the machine, which needs no right; nobody answers by it. */
const DIRECTLY = \`
use Socket;
my ($s, $host, $port) = (undef, @ARGV);
$| = 1;
$SIG{ALRM} = sub { print("silence"), exit };
alarm 3;
socket($s, PF_INET, SOCK_STREAM, 0) && setsockopt($s, SOL_SOCKET, 25, "edge0") or die "no link: $!";
connect($s, sockaddr_in($port, inet_aton($host))) or print("refused: $!"), exit;
print "reached";
\`;
const directlyTo = (host, port) => new Promise((resolve) =>
  require('node:child_process').execFile('perl', ['-e', DIRECTLY, host, String(port)], (error, stdout) => resolve(stdout || String(error))));
const ownAddress = () => Object.values(require('node:os').networkInterfaces()).flat().find(({ internal, family }) => !internal && family === 'IPv4')?.address;
require('node:readline').createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, kind, host, port } = JSON.parse(line);
  const kinds = { udp: udpTo, kept: keptTo, tcp: tcpTo, abstract: (name) => connectTo({ path: '\\0tancho-' + name }), flood, floodPort: (_, port) => floodPort(port, 10000), tracked, own: ownAddress, directly: directlyTo, requests: () => requests };
  console.log(JSON.stringify({ id, result: await kinds[kind](host, port) }));
});
`;

export interface NetworkApp {
  readonly id: string;
  readonly tenant: string;
  readonly address: string;
  /** Port of the address that leads to it; null: each of its own does. */
  readonly door: number | null;
  /** Resolves when its process has ended. */
  readonly ended: Promise<void>;
  readonly lines: string[];
  /** `kept`: by UDP, from the same port each time. `directly`: by TCP, by no other link than that to the machine. */
  to(kind: 'tcp' | 'udp' | 'kept' | 'directly', host: string, port: number): Promise<string>;
  /** The abstract socket of another one, by its id, or the one that all have (`test`). */
  abstract(name: string): Promise<string>;
  /** Its address, as itself sees it. */
  own(): Promise<string>;
  /** How many came by HTTP. */
  requests(): Promise<number>;
  /** Begins so many calls by UDP to nobody in a network of 256; resolves when they have left. */
  flood(network: string, count: number): Promise<string>;
  /** Begins 10,000 calls by UDP to a port of its loopback. */
  floodPort(port: number): Promise<string>;
  /** How many connections the kernel keeps for its network. */
  tracked(): Promise<number>;
  end(): Promise<void>;
}

let asked = 0;

export interface NetworkAppOptions {
  /** Where its code is put. */
  readonly home: string;
  readonly id: string;
  readonly tenant: string;
  readonly services?: readonly ReachedService[];
}

export async function startNetworkApp(from: Sandbox, options: NetworkAppOptions): Promise<NetworkApp> {
  const { home, id, tenant, services = [] } = options;
  const code = join(home, `code-${tenant}`);
  if (!existsSync(code)) mkdirSync(code);
  writeFileSync(join(code, 'app.js'), APP);
  await from.own(code, tenant);
  const { child, address, door, ...tree } = await from.spawn({
    argv: ['/usr/bin/env', 'node', 'app.js'],
    cwd: code,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', TEST_NAME: id },
    tenant,
    binds: [{ path: code, writable: true }],
    limits: { memoryBytes: 0, cpuMillis: 0, processes: 0 },
    stdio: ['pipe', 'pipe', 'inherit'],
    dieWithParent: true,
    id,
    services,
  });
  const lines: string[] = [];
  const waiting = new Map<number, (result: string) => void>();
  const { stdin, stdout } = child as ChildProcess & { stdin: NodeJS.WritableStream; stdout: NodeJS.ReadableStream };
  createInterface({ input: stdout }).on('line', (line) => {
    lines.push(line);
    if (!line.startsWith('{')) return;
    const answer = JSON.parse(line) as { id: number; result: string };
    waiting.get(answer.id)?.(answer.result);
  });
  await until(() => lines.includes('listening'), { what: `${id} to listen` });
  const ask = (kind: string, host: string, port: number): Promise<string> => {
    const number = (asked += 1);
    stdin.write(`${JSON.stringify({ id: number, kind, host, port })}\n`);
    return new Promise((resolve) => waiting.set(number, resolve));
  };
  return {
    id,
    tenant,
    address: address ?? '',
    door,
    ended: new Promise((resolve) => child.once('exit', () => resolve())),
    lines,
    to: ask,
    abstract: (name) => ask('abstract', name, 0),
    own: () => ask('own', '', 0),
    requests: async () => Number(await ask('requests', '', 0)),
    flood: (network, count) => ask('flood', network, count),
    floodPort: (port) => ask('floodPort', '', port),
    tracked: async () => Number(await ask('tracked', '', 0)),
    async end() {
      await from.kill({ ...tree, id }, 'SIGKILL');
      await from.release(id);
    },
  };
}
