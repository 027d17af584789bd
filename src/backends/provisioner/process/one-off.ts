/** Runs one command beside the units: same code, environment and user, own process, own home. */
import type { ExecRequest, ExecResult } from '../../../domain/units/provisioner.ts';
import { Failure } from '../../../domain/failure.ts';
import { atMost } from '../../../lib/deadline.ts';
import { childEnd } from '../../../sandbox/child-end.ts';
import { exitStatus } from './exit-status.ts';
import { type Beside, inPlace, type OneOffPlace } from './one-off-place.ts';
import { PacedOutput } from './paced-output.ts';
import { surroundings } from './surroundings.ts';
import { oneOffArgv, unitEnvironment } from './unit-command.ts';

/** For output still on its way after everything that could write it is dead. */
const DRAIN_MS = 2_000;

interface OneOff extends Beside {
  readonly request: ExecRequest;
}

/** Throws Failure `cancelled`, `timeout` or `disk_low`; the command is dead then. */
export async function runOneOff(options: OneOff): Promise<ExecResult> {
  const { request } = options;
  if (request.signal.aborted) throw cancelled();
  return inPlace(options, request, (place, signal) => runIn({ ...options, request: { ...request, signal } }, place));
}

async function runIn(options: OneOff, place: OneOffPlace): Promise<ExecResult> {
  const { request, sandbox, slug, port, services } = options;
  const { id } = place;
  const { home, tmp, ...around } = surroundings(slug, place);
  const started = await sandbox.spawn({
    argv: oneOffArgv(request.command, slug.manifest),
    ...around,
    env: unitEnvironment({ spec: request.unit, manifest: slug.manifest, home, tmp, port, links: place.links }),
    tenant: request.unit.app,
    limits: request.unit.limits,
    stdio: ['ignore', 'pipe', 'pipe'],
    dieWithParent: true,
    id,
    services,
  });
  place.started(started);
  const { child } = started;
  const { ended, end } = childEnd(sandbox, started, id);
  let stopped: Failure | null = null;
  const stop = (why: Failure): void => {
    stopped ??= why;
    end();
  };
  const onAbort = (): void => stop(cancelled());
  request.signal.addEventListener('abort', onAbort);
  if (request.signal.aborted) onAbort();
  const timer = setTimeout(() => stop(timedOut(request.timeoutMs)), request.timeoutMs);
  const output = new PacedOutput([child.stdout, child.stderr], request.output);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  try {
    const { code, signal } = await ended;
    // What it left in the background would hold its output open.
    await sandbox.kill({ ...started, id }, 'SIGKILL');
    await output.drained(closed, () => stopped !== null);
    if (stopped !== null) throw stopped as Failure;
    return exitStatus(code, signal);
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener('abort', onAbort);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

/** What is still on its way, but no longer than it may take. */
export function withinDrainTime(closed: Promise<void>): Promise<void> {
  return atMost(DRAIN_MS, closed);
}

export function cancelled(): Failure {
  return new Failure('cancelled', 'The command was cancelled.');
}

function timedOut(timeoutMs: number): Failure {
  return new Failure('timeout', `The command was ended after ${Math.round(timeoutMs / 1000)} seconds.`, {
    hint: 'Make it shorter, or run it as a process type of its own.',
  });
}
