/**
 * Requests a second through the edge beside the same requests sent straight to the unit, in the same run, in turns.
 * Needs the built program in dist/ (or where TANCHO_DIST says); load by wrk when it is installed, else by edge-load.
 */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createEdgeRouter } from '../src/backends/router/edge/edge-router.ts';
import { SILENT } from '../src/lib/logger.ts';

export interface BenchFigure {
  readonly name: string;
  readonly value: number;
  /** The same without the edge. */
  readonly floor: number;
  readonly ratio: number;
  readonly unit: string;
}

const run = promisify(execFile);
const ROUNDS = 2;
const LOAD_MS = 1_000;
const CONNECTIONS = 32;
const PATIENCE_MS = 20_000;

export async function benchEdge(): Promise<BenchFigure[]> {
  const entry = join(process.env.TANCHO_DIST ?? resolve('dist'), 'edge/main.js');
  await stat(entry).catch(() => {
    throw new Error(`${entry} is missing: build the program first (npm run build).`);
  });
  const home = await mkdtemp(join(tmpdir(), 'edge-bench-'));
  const upstream = await startUpstream();
  const router = await createEdgeRouter({
    stateDir: join(home, 'state'),
    runDir: join(home, 'run'),
    listen: { host: '127.0.0.1', port: 0 },
    workers: 1,
    entry,
    logger: SILENT,
  });
  try {
    const targets = [{ unit: 'bench', host: '127.0.0.1', port: upstream.port }];
    await router.apply({ version: 1, routes: [{ app: 'bench', hosts: ['bench.test'], targets, note: '' }] });
    const edgePort = Number(router.listen.slice(router.listen.lastIndexOf(':') + 1));
    const load = (await hasWrk()) ? loadByWrk : loadByOwn;
    return [
      await compare('edge, 100 B answers', { path: '/small', edgePort, unitPort: upstream.port, load }),
      await compare('edge, 64 KB answers', { path: '/large', edgePort, unitPort: upstream.port, load }),
    ];
  } finally {
    await router.stop();
    upstream.child.kill();
    await rm(home, { recursive: true, force: true });
  }
}

interface Comparison {
  readonly path: string;
  readonly edgePort: number;
  readonly unitPort: number;
  readonly load: (port: number, path: string) => Promise<number>;
}

async function compare(name: string, { path, edgePort, unitPort, load }: Comparison): Promise<BenchFigure> {
  const direct: number[] = [];
  const through: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    direct.push(await load(unitPort, path));
    through.push(await load(edgePort, path));
  }
  const value = Math.round(Math.max(...through));
  const floor = Math.round(Math.max(...direct));
  return { name, value, floor, ratio: Math.round((value / floor) * 100) / 100, unit: 'req/s' };
}

async function startUpstream(): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [beside('edge-upstream')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise<number>((done, fail) => {
    child.stdout.once('data', (text: Buffer) => done(Number(text.toString())));
    child.once('exit', (code) => fail(new Error(`the unit ended at its start (${code ?? 'signal'})`)));
  });
  return { child, port };
}

async function loadByOwn(port: number, path: string): Promise<number> {
  const options = JSON.stringify({ port, path, connections: CONNECTIONS, ms: LOAD_MS });
  const { stdout } = await run(process.execPath, [beside('edge-load'), options], { timeout: PATIENCE_MS });
  const { perSecond, failed } = JSON.parse(stdout) as { perSecond: number; failed: number };
  if (failed > 0) throw new Error(`${failed} requests failed`);
  return perSecond;
}

async function loadByWrk(port: number, path: string): Promise<number> {
  const seconds = `-d${Math.ceil(LOAD_MS / 1_000)}`;
  const url = `http://127.0.0.1:${port}${path}`;
  const { stdout } = await run('wrk', ['-t1', `-c${CONNECTIONS}`, seconds, '-H', 'Host: bench.test', url], {
    timeout: PATIENCE_MS,
  });
  const perSecond = /Requests\/sec:\s+([0-9.]+)/.exec(stdout)?.[1];
  if (perSecond === undefined || stdout.includes('Non-2xx')) throw new Error(`wrk failed:\n${stdout}`);
  return Number(perSecond);
}

/** wrk without arguments explains itself and exits with 1; without wrk there is no exit code at all. */
async function hasWrk(): Promise<boolean> {
  return run('wrk', []).then(
    () => true,
    (error: { code?: unknown }) => typeof error.code === 'number',
  );
}

function beside(name: string): string {
  return fileURLToPath(new URL(`./${name}${extname(fileURLToPath(import.meta.url))}`, import.meta.url));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const figure of await benchEdge()) {
    process.stdout.write(
      `${figure.name}: ${figure.value} ${figure.unit}, direct ${figure.floor}, ratio ${figure.ratio}\n`,
    );
  }
}
