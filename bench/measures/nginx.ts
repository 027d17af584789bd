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
import { loadedApp, publishLoadBeside } from '../load-beside.ts';

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
    const { world, port } = await loadedApp(bench);
    const other = bench.keep(await startNginx(program, port));
    await publishLoadBeside(bench, world, { what: 'through nginx', port: other.port });
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

/** It says to the app what the edge says, and keeps bodies in memory as the edge does. */
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
      proxy_buffers 16 16k;
      proxy_busy_buffers_size 128k;
      proxy_max_temp_file_size 0;
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
