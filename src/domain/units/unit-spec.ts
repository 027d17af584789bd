/** What a provisioner needs to know of a unit, made from the release it runs. */
import type { EnvVar, Release } from '../apps/app.ts';
import { isRouted } from './routed.ts';
import { type Unit, unitName } from './unit.ts';
import { livenessCheckOf } from './liveness-check.ts';
import { boundServices } from './bound-services.ts';
import { mountsOf } from '../volumes/volume.ts';
import type { Limits, UnitSpec, VolumeMount } from './provisioner.ts';

export function envRecord(vars: readonly EnvVar[]): Record<string, string> {
  return Object.fromEntries(vars.map((variable) => [variable.name, variable.value]));
}

export function unitSpec(unit: Unit, release: Release, limits: Limits): UnitSpec {
  return {
    id: unit.id,
    app: unit.app,
    name: unitName(unit),
    process: unit.process,
    rollout: unit.rollout,
    artifact: release.artifact,
    ...(release.published !== '' && { image: release.published }),
    isBuilt: release.image === '',
    command: release.processes[unit.process]?.command ?? '',
    env: envRecord(release.env),
    listens: isRouted(release, unit.process),
    liveness: livenessCheckOf(release, unit.process),
    limits: { ...limits, ...release.limits },
    placement: release.placement,
    services: boundServices(release.env),
    volumes: mountsOf(release.mounts, unit.process).map(toMount),
  };
}

/** For one-off commands: not a unit of the app, but equal to one in code, environment and user. `process`: its kind, for people. */
export function commandSpec(id: string, release: Release, limits: Limits, process = 'run'): UnitSpec {
  return {
    id,
    app: release.app,
    name: `${release.app}/${process}`,
    process,
    artifact: release.artifact,
    ...(release.published !== '' && { image: release.published }),
    isBuilt: release.image === '',
    command: '',
    env: envRecord(release.env),
    listens: false,
    limits: { ...limits, ...release.limits },
    placement: release.placement,
    services: boundServices(release.env),
    volumes: release.mounts.map(toMount),
  };
}

function toMount({ volume, path }: Release['mounts'][number]): VolumeMount {
  return { name: volume, path };
}
