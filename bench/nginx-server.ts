/** nginx with one worker before one app: it says to the app what the edge says. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../test/support/free-port.ts';
import type { TestCertificate } from '../test/support/test-certificates.ts';
import { until } from '../test/support/until.ts';
import { family } from './process-use.ts';

const START_MS = 10_000;
/** Where distributions put it. */
const PROGRAMS = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx'];
export const NO_NGINX = 'no comparison with nginx: it is not installed (Debian: apt install nginx-light)';

export interface Nginx {
  readonly port: number;
  /** Of its worker. */
  readonly pid: number;
  dispose(): Promise<void>;
}

/** Where nginx is; undefined: nowhere. */
export function nginxProgram(): string | undefined {
  return PROGRAMS.find((path) => existsSync(path));
}

interface NginxOptions {
  /** A port on loopback. */
  readonly upstream: number;
  /** It is spoken in place of plain HTTP. */
  readonly tls?: TestCertificate;
  /** Buffers that hold an answer of 64 KB whole; else those that nginx has by itself. */
  readonly hasLargeBuffers?: boolean;
}

export async function startNginx(program: string, options: NginxOptions): Promise<Nginx> {
  const { upstream, tls, hasLargeBuffers = false } = options;
  const directory = await mkdtemp(join(tmpdir(), 'nginx-'));
  const port = await freePort();
  const file = join(directory, 'nginx.conf');
  if (tls !== undefined) {
    await writeFile(join(directory, 'chain.pem'), tls.chain);
    await writeFile(join(directory, 'key.pem'), tls.key, { mode: 0o600 });
  }
  await writeFile(file, configuration(directory, { port, upstream, isTls: tls !== undefined, hasLargeBuffers }));
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
    return { port, pid: workerOf(child.pid), dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

function workerOf(master: number | undefined): number {
  const worker = master === undefined ? undefined : family(master).find((pid) => pid !== master);
  if (worker === undefined) throw new Error('nginx has no worker');
  return worker;
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

interface Served {
  readonly port: number;
  readonly upstream: number;
  readonly isTls: boolean;
  readonly hasLargeBuffers: boolean;
}

/** The versions and ciphers that are the edge's own, and tickets, which are on by themselves. */
const TLS = `
    ssl_certificate chain.pem;
    ssl_certificate_key key.pem;
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_session_cache off;
    ssl_session_tickets on;`;

const LARGE_BUFFERS = `
      proxy_buffers 16 16k;
      proxy_busy_buffers_size 128k;
      proxy_max_temp_file_size 0;`;

function configuration(directory: string, { port, upstream, isTls, hasLargeBuffers }: Served): string {
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
    listen 127.0.0.1:${port}${isTls ? ' ssl' : ''} backlog=1024;${isTls ? TLS : ''}
    location / {
      proxy_pass http://app;
      proxy_http_version 1.1;${hasLargeBuffers ? LARGE_BUFFERS : ''}
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
