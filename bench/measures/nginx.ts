/** Requests to an app through the edge, beside the same requests through nginx with one worker, the same fields and the same app. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { until } from '../../test/support/until.ts';
import type { Measure } from '../bench.ts';
import { load, type LoadResult } from '../http-load.ts';
import { Pusher } from '../pushing.ts';
import { PLAIN_APP } from '../sample-apps.ts';
import { publishLoad } from './api.ts';

const APP = 'target';
const SIZES = [
  { bytes: 100, name: '100 B' },
  { bytes: 65_536, name: '64 KB' },
];
const CONNECTIONS = 32;
const SECONDS = 1;
const ROUNDS = 5;
const START_MS = 10_000;
/** Where distributions put it. */
const PROGRAMS = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx'];

export const nginx: Measure = {
  name: 'nginx',
  about: 'requests a second and latency through the edge beside nginx with one worker',
  async run(bench) {
    const program = PROGRAMS.find((path) => existsSync(path));
    if (program === undefined) {
      bench.tell('no comparison with nginx: it is not installed (Debian: apt install nginx-light)');
      return;
    }
    // Both reach the app by the same way, that of the machine's own network.
    const world = await bench.world({ env: { TANCHO_NETWORK: 'shared' } });
    await (await Pusher.open(bench, world)).deploy(APP, PLAIN_APP);
    const direct = Number((await world.fetchApp(APP, '/port')).text);
    const through = Number(world.edge.split(':')[1]);
    const other = bench.keep(await startNginx(program, direct));
    for (const { bytes, name } of SIZES) {
      const head = [`GET /${bytes} HTTP/1.1`, `Host: ${APP}.localhost`];
      const under = (port: number, seconds: number): Promise<LoadResult> =>
        load({ port, head, connections: CONNECTIONS, seconds });
      const results: LoadResult[] = [];
      const beside: LoadResult[] = [];
      for (const port of [through, other.port]) await under(port, SECONDS / 2);
      await bench.rounds(ROUNDS, async () => {
        results.push(await under(through, SECONDS));
        beside.push(await under(other.port, SECONDS));
      });
      publishLoad(bench, `${name} through the edge`, results, { what: 'through nginx', results: beside });
    }
  },
};

interface Nginx {
  readonly port: number;
  dispose(): Promise<void>;
}

async function startNginx(program: string, upstream: number): Promise<Nginx> {
  const directory = await mkdtemp(join(tmpdir(), 'nginx-'));
  const port = await freePort();
  const file = join(directory, 'nginx.conf');
  await writeFile(file, configuration(directory, port, upstream));
  const child = spawn(program, ['-c', file, '-e', join(directory, 'error.log')], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
  const dispose = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await until(() => answers(port), { timeoutMs: START_MS, everyMs: 20, what: 'nginx to listen' });
  } catch (error) {
    await dispose();
    throw error;
  }
  return { port, dispose };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const say = (is: boolean): void => {
      socket.destroy();
      resolve(is);
    };
    socket.once('connect', () => say(true));
    socket.once('error', () => say(false));
  });
}

/** It says to the app what the edge says. */
function configuration(directory: string, port: number, upstream: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
daemon off;
worker_processes 1;
pid ${directory}/pid;
events { worker_connections 4096; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${directory}/${name};`).join('\n  ')}
  keepalive_requests 1000000000;
  upstream app { server 127.0.0.1:${upstream}; keepalive 64; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port} backlog=1024;
    location / {
      proxy_pass http://app;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header X-Forwarded-Port $server_port;
      proxy_set_header Forwarded "for=$remote_addr;proto=$scheme;host=\\"$http_host\\"";
      proxy_set_header X-Request-Id $request_id;
      add_header X-Request-Id $request_id;
    }
  }
}
`;
}
