/** Starts the process of one unit. */
import { closeSync, openSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import type { UnitSpec } from '../../../domain/units/provisioner.ts';
import { isDiskFull } from '../../../domain/errors.ts';
import { Failure } from '../../../domain/failure.ts';
import { isSimpleCommand } from '../../../lib/shell-argv.ts';
import { bootId } from '../../../lib/processes.ts';
import { Turns } from '../../../lib/turns.ts';
import type { Sandbox, SandboxBind, SandboxProcess, SandboxRequest } from '../../../sandbox/sandbox.ts';
import type { ReachedService } from '../../../networks/networks.ts';
import { type CodeLayers, type CodePlace, heldOf } from './code-layers.ts';
import type { ExitStatus } from './exit-status.ts';
import { type LinkedNames, linkedNames } from './linked-names.ts';
import { holdRoom, sizeOf } from './output-file.ts';
import type { LiveUnit } from './live-unit.ts';
import type { Slug } from './slug.ts';
import { surroundings } from './surroundings.ts';
import { unitArgv, unitEnvironment } from './unit-command.ts';
import type { UnitRecord } from './unit-record.ts';
import { mountVolumes } from './volume-mounts.ts';

export function newRecord(spec: UnitSpec, slug: Slug, port: number | null, freed: number): UnitRecord {
  const { image } = slug.manifest;
  return {
    format: 1,
    id: spec.id,
    app: spec.app,
    process: spec.process,
    artifact: spec.artifact,
    port,
    address: null,
    door: null,
    memoryBytes: spec.limits.memoryBytes,
    readOnly: [],
    isSimple: image !== undefined || isSimpleCommand(spec.command),
    ...(image !== undefined && { exposed: image.ports }),
    state: 'starting',
    bootId: bootId(),
    rootPid: 0,
    rootStart: '',
    mainPid: 0,
    mainStart: '',
    exit: null,
    isReported: false,
    freed,
    removedAt: null,
  };
}

/** More launches at one time would only make each of them later, and the last ones too late. */
const LAUNCHES_PER_PROCESSOR = 4;

export function launchTurns(): Turns {
  return new Turns(LAUNCHES_PER_PROCESSOR * availableParallelism());
}

/** From the start on, behind what a unit has printed. */
const HELD_BYTES = 256 * 1024;

interface UnitLaunch {
  readonly unit: LiveUnit;
  readonly spec: UnitSpec;
  readonly slug: Slug;
  readonly sandbox: Sandbox;
  readonly services: readonly ReachedService[];
  readonly layers: CodeLayers;
  /** Directory of all volumes. */
  readonly volumes: string;
}

/** On failure the unit is left dead, its end not to be reported: it never lived. */
export async function launchUnit(launch: UnitLaunch): Promise<void> {
  const { unit, sandbox, layers, slug, spec } = launch;
  const { paths } = unit;
  let started: SandboxProcess;
  let volumes: readonly SandboxBind[] = [];
  try {
    const output = openSync(paths.output, 'a', 0o600);
    // A disk may fill up sooner than anybody sees it, and many programs end when they cannot print. Nobody waits for it.
    void holdRoom(paths.output, { offset: await sizeOf(paths.output), length: HELD_BYTES }).catch(() => undefined);
    try {
      for (const path of [paths.home, paths.tmp]) await sandbox.own(path, launch.spec.app);
      // The file too: an app may open its own output again, as /dev/stdout.
      await sandbox.own(paths.output, launch.spec.app);
      const place = await layers.lay(slug.code, paths.directory, {
        tenant: spec.app,
        isRoot: slug.manifest.image !== undefined,
        held: heldOf(spec),
        beside: [paths.home, paths.tmp],
      });
      volumes = await mountVolumes({ ...launch, place });
      const { hosts, env: links } = await linkedNames(sandbox, spec.app, paths.directory);
      started = await sandbox.spawn(unitRequest(launch, { place, volumes, hosts, links }, output));
    } finally {
      closeSync(output);
    }
  } catch (error) {
    await abandon(launch, { rootPid: 0, rootStart: '' });
    throw error;
  }
  const { child, rootPid, rootStart, address, door } = started;
  const ended = new Promise<ExitStatus>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  child.on('error', () => undefined);
  child.unref();
  try {
    const main = await started.main;
    // What fails here is done at the end of the unit, or at the next start.
    await layers.settled(paths.directory).catch(() => undefined);
    const readOnly = volumes.filter(({ writable }) => !writable).map(({ path }) => basename(path));
    await unit.live({ rootPid, rootStart, mainPid: main.pid, mainStart: main.start, address, door, readOnly }, ended);
  } catch (error) {
    // Nobody would know of it, and so nobody would ever end it.
    await abandon(launch, { rootPid, rootStart });
    throw error;
  }
}

/** Goes on to the end whatever fails: the unit is dead for whoever asks, also where the disk takes no record of it. */
async function abandon(
  { unit, sandbox, layers }: UnitLaunch,
  root: Pick<UnitRecord, 'rootPid' | 'rootStart'>,
): Promise<void> {
  const steps = [
    () => sandbox.kill({ ...root, id: unit.id }, 'SIGKILL'),
    () => sandbox.release(unit.id),
    () => layers.clear(unit.paths.directory),
    () => unit.neverLived(),
  ];
  for (const step of steps) await step().catch(() => undefined);
}

interface OwnView {
  readonly place: CodePlace;
  readonly volumes: readonly SandboxBind[];
  readonly hosts: string | null;
  readonly links: LinkedNames['env'];
}

function unitRequest({ unit, spec, slug, services }: UnitLaunch, view: OwnView, output: number): SandboxRequest {
  const { home, tmp, ...around } = surroundings(slug, { ...unit.paths, ...view });
  return {
    argv: unitArgv(spec.command, slug.manifest),
    env: unitEnvironment({ spec, manifest: slug.manifest, home, tmp, port: unit.record.port, links: view.links }),
    tenant: spec.app,
    ...around,
    limits: spec.limits,
    stdio: ['ignore', output, output],
    dieWithParent: false,
    id: spec.id,
    services,
  };
}

export function startFailure(process: string, error: unknown, lines: readonly string[]): Failure {
  if (error instanceof Failure) return error;
  const why = error instanceof Error ? error.message : String(error);
  if (isDiskFull(error))
    return new Failure('disk_full', `The process "${process}" could not be started, for the disk is full.`, {
      hint: 'Ask the operator to make room (tancho server disk shows who holds what), then try again.',
      lines,
    });
  return new Failure('internal', `The process "${process}" could not be started: ${why}`, {
    hint: 'This is a fault of the machine or the platform, not of the app; ask an operator to look at the log.',
    lines,
  });
}
