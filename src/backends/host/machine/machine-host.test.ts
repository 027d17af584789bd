import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writePidFile } from '../../../lib/pid-file.ts';
import { createMachineHost } from './machine-host.ts';

/** Forks once with its own arguments, as an edge forks its workers, and starts something else beside. */
const EDGE = `
const { fork, spawn } = require('node:child_process');
if (process.env.WORKER) setInterval(() => {}, 1000);
else {
  const worker = fork(process.argv[1], process.argv.slice(2), { env: { ...process.env, WORKER: '1' }, execArgv: [] });
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  process.on('SIGTERM', () => { worker.kill(); other.kill(); process.exit(0); });
  console.log(worker.pid);
}
`;

let runDir: string;
const started: ChildProcess[] = [];
beforeEach(() => (runDir = mkdtempSync(join(tmpdir(), 'tancho-host-'))));
afterEach(async () => {
  for (const child of started.splice(0)) {
    child.kill();
    await once(child, 'exit');
  }
  rmSync(runDir, { recursive: true, force: true });
});

it('knows control, the edge with its workers, and no other process', async () => {
  const host = createMachineHost({ runDir });
  expect((await host.processes()).map(({ part, pid }) => [part, pid])).toEqual([['control', process.pid]]);
  const program = join(runDir, 'edge.cjs');
  writeFileSync(program, EDGE);
  const edge = spawn(process.execPath, [program, 'options'], { stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(edge);
  const [line] = (await once(edge.stdout, 'data')) as [Buffer];
  await writePidFile(join(runDir, 'edge.pid'), edge.pid);
  const found = await host.processes();
  expect(found.map(({ part, pid }) => [part, pid])).toEqual([
    ['control', process.pid],
    ['edge', edge.pid],
    ['edge worker', Number(line.toString())],
  ]);
  for (const { memoryBytes, startedAt } of found) {
    expect(memoryBytes).toBeGreaterThan(1_000_000);
    expect(Date.parse(startedAt)).toBeLessThanOrEqual(Date.now() + 1_000);
  }
});

it('names what the platform is made with, and measures the machine', async () => {
  const host = createMachineHost({ runDir });
  const programs = new Map((await host.programs()).map(({ name, version }) => [name, version]));
  expect(programs.get('Node.js')).toBe(process.versions.node);
  expect(programs.get('git')).toMatch(/^\d+\.\d+/);
  const { memoryTotalBytes, memoryAvailableBytes, processors, load } = host.machine();
  expect(memoryTotalBytes).toBeGreaterThan(memoryAvailableBytes);
  expect(memoryAvailableBytes).toBeGreaterThan(0);
  expect(processors).toBeGreaterThan(0);
  expect(load).toHaveLength(3);
});
