import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { becomeKeeper, endKeeper, isControlThere, leaveKeeper } from './keeper-claim.ts';
import { readPidFile, writePidFile } from './pid-file.ts';

let folder: string;
const children: ChildProcess[] = [];
const files = () => ({ control: join(folder, 'control.pid'), keeper: join(folder, 'keeper.pid') });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'claims-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await rm(folder, { recursive: true, force: true });
});

async function start(body = ''): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', `${body}; setInterval(() => {}, 1000); console.log('ready')`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  if (child.stdout !== null) await once(child.stdout, 'data');
  return child;
}

it('the keeper gives way to a control that is there, and to another keeper', async () => {
  expect(await becomeKeeper(files())).toBe(true);
  const control = await start();
  await writePidFile(files().control, control.pid);
  expect(await isControlThere(files())).toBe(true);
  expect(await becomeKeeper(files())).toBe(false);
  control.kill('SIGKILL');
  await once(control, 'exit');
  expect(await isControlThere(files())).toBe(false);
  expect(await becomeKeeper(files())).toBe(true);
  const { pid } = await start();
  await writePidFile(files().keeper, pid);
  expect(await becomeKeeper(files())).toBe(false);
  // Control finds the other one by it.
  await leaveKeeper(files());
  expect((await readPidFile(files().keeper))?.pid).toBe(pid);
});

it('control asks the keeper to end, and goes on when it has', async () => {
  await endKeeper(files());
  const keeper = await start("process.on('SIGTERM', () => setTimeout(() => process.exit(7), 50))");
  await writePidFile(files().keeper, keeper.pid);
  await endKeeper(files());
  if (keeper.exitCode === null) await once(keeper, 'exit');
  expect(keeper.exitCode).toBe(7);
  expect(await readPidFile(files().keeper)).toBeNull();
});
