/** Runs one command beside the units: same code, environment and user, own process, own home. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecRequest, ExecResult } from '../../../domain/apps/provisioner.ts';
import { Failure } from '../../../domain/apps/rollout.ts';
import { randomHex } from '../../../lib/ids.ts';
import type { Sandbox } from '../../../lib/sandbox/sandbox.ts';
import { removeTree } from '../../../lib/remove-tree.ts';
import { exitStatus } from './exit-status.ts';
import type { Slug } from './slug.ts';
import { oneOffArgv, unitEnvironment } from './unit-command.ts';

/** For output still on its way after everything that could write it is dead. */
const DRAIN_MS = 2_000;

export interface OneOff {
  readonly request: ExecRequest;
  readonly sandbox: Sandbox;
  readonly slug: Slug;
  /** Directory for one-off homes. */
  readonly directory: string;
  /** The port of the unit beside which it runs, if that runs. */
  readonly port: number | null;
}

/** Throws Failure `cancelled` or `timeout`; the command is dead then. */
export async function runOneOff(options: OneOff): Promise<ExecResult> {
  const { request, sandbox } = options;
  if (request.signal.aborted) throw cancelled();
  const id = `run-${randomHex(12)}`;
  const own = join(options.directory, id);
  const home = join(own, 'home');
  const tmp = join(own, 'tmp');
  try {
    await mkdir(home, { recursive: true, mode: 0o711 });
    await mkdir(tmp, { recursive: true });
    for (const path of [home, tmp]) await sandbox.own(path, request.unit.app);
    return await runIn(options, { id, own, home, tmp });
  } finally {
    await sandbox.kill({ rootPid: 0, rootStart: '', id }, 'SIGKILL');
    await sandbox.release(id);
    await removeTree(own);
  }
}

interface Place {
  readonly id: string;
  readonly own: string;
  readonly home: string;
  readonly tmp: string;
}

async function runIn(options: OneOff, place: Place): Promise<ExecResult> {
  const { request, sandbox, slug, port } = options;
  const { home, tmp, id } = place;
  const started = await sandbox.spawn({
    argv: oneOffArgv(request.command),
    cwd: slug.code,
    env: unitEnvironment({ spec: request.unit, manifest: slug.manifest, home, tmp, port }),
    tenant: request.unit.app,
    binds: [
      { path: slug.code, writable: true },
      { path: home, writable: true },
      { path: tmp, writable: true },
      ...slug.manifest.binds.map((path) => ({ path, writable: false })),
    ],
    limits: request.unit.limits,
    stdio: ['ignore', 'pipe', 'pipe'],
    dieWithParent: true,
    id,
  });
  const { child } = started;
  let stopped: Failure | null = null;
  const stop = (why: Failure): void => {
    stopped ??= why;
    void sandbox.kill({ ...started, id }, 'SIGKILL');
  };
  const onAbort = (): void => stop(cancelled());
  request.signal.addEventListener('abort', onAbort);
  if (request.signal.aborted) onAbort();
  const timer = setTimeout(() => stop(timedOut(request.timeoutMs)), request.timeoutMs);
  child.stdout?.on('data', request.output);
  child.stderr?.on('data', request.output);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  try {
    const status = await new Promise<ExecResult>((resolve) => {
      child.once('exit', (code, signal) => resolve(exitStatus(code, signal)));
    });
    // What it left in the background would hold its output open.
    await sandbox.kill({ ...started, id }, 'SIGKILL');
    await withinDrainTime(closed);
    if (stopped !== null) throw stopped as Failure;
    return status;
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener('abort', onAbort);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

async function withinDrainTime(closed: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, DRAIN_MS);
  });
  await Promise.race([closed, late]);
  clearTimeout(timer);
}

function cancelled(): Failure {
  return new Failure('cancelled', 'The command was cancelled.');
}

function timedOut(timeoutMs: number): Failure {
  return new Failure('timeout', `The command was ended after ${Math.round(timeoutMs / 1000)} seconds.`, {
    hint: 'Make it shorter, or run it as a process type of its own.',
  });
}
