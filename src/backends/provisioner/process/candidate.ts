/** A unit as those see it who wait until it serves. */
import type { Artifacts } from './provisioner-options.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import type { LiveUnit } from './live-unit.ts';
import type { Candidate } from './readiness.ts';

interface CandidateSources {
  readonly sandbox: Pick<Sandbox, 'pids' | 'openDoor'>;
  readonly artifacts: Artifacts;
  /** What it runs; absent where that is no longer known. */
  readonly artifact: string | undefined;
  readonly lastLines: () => Promise<string[]>;
}

export function candidateOf(unit: LiveUnit, sources: CandidateSources): Candidate {
  const { sandbox, artifacts, artifact, lastLines } = sources;
  const { id, app, process, port, address = null, door = null, exposed = [] } = unit.record;
  return {
    app,
    process,
    port,
    address,
    ...(door !== null && { door: { port: door, open: (port: number) => sandbox.openDoor(id, port) } }),
    exposed,
    gone: unit.gone,
    pids: () => sandbox.pids(unit.tree),
    lastLines,
    async whereNamed(named) {
      const slug = artifact === undefined ? null : await artifacts.open(artifact);
      // The files of an image are those of a whole machine.
      if (slug === null || slug.manifest.image !== undefined) return null;
      const { namedPort } = await import('./named-port.ts');
      return namedPort(slug.code, named).catch(() => null);
    },
  };
}
