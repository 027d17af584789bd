/** What differs between two releases of an app, in order. Private values are never part of it, only that they differ. Pure. */
import type { EnvVar, ProcessType, Release } from './app.ts';

const CHANGED_PARTS = ['code', 'variable', 'process', 'limits', 'engine', 'health', 'hook', 'volume', 'build'] as const;

export interface ReleaseChange {
  readonly part: (typeof CHANGED_PARTS)[number];
  /** Which variable, process, hook or volume; else what of the part. */
  readonly name: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** In words; '' where there was nothing, and for private values. */
  readonly before: string;
  readonly after: string;
  /** The values are not shown. */
  readonly isPrivate: boolean;
}

type Facts = ReadonlyMap<string, Fact>;

interface Fact {
  readonly text: string;
  readonly isPrivate?: boolean;
}

export function releaseChanges(from: Release, to: Release): ReleaseChange[] {
  return CHANGED_PARTS.flatMap((part) => changesOf(part, PARTS[part](from), PARTS[part](to)));
}

const PARTS: Readonly<Record<ReleaseChange['part'], (release: Release) => Facts>> = {
  code: ({ artifact, commit, image }) => facts({ commit, image, 'built code': image === '' ? artifact : '' }),
  variable: ({ env }) => new Map(env.map((one) => [one.name, variable(one)])),
  process: ({ processes }) =>
    facts(
      Object.fromEntries(
        Object.entries(processes).flatMap(([name, { command, count, watchSeconds, liveness, routed, healthCheck }]) => [
          [name, command],
          [`${name}: units`, String(count)],
          [`${name}: watched`, watchSeconds === undefined ? '' : `${watchSeconds} s`],
          [`${name}: liveness`, inWords(liveness)],
          [`${name}: requests`, routed === true ? 'answers at a name of its own' : ''],
          [`${name}: health`, inWords(healthCheck)],
        ]),
      ),
    ),
  limits: ({ limits }) =>
    facts({
      memory: limits === null || limits.memoryBytes === 0 ? '' : `${limits.memoryBytes / 1024 ** 2} MiB`,
      processor: limits === null || limits.cpuMillis === 0 ? '' : `${limits.cpuMillis / 10} %`,
      'share of the processor': limits?.cpuShare === undefined || limits.cpuShare === 0 ? '' : String(limits.cpuShare),
    }),
  engine: ({ placement }) => facts({ name: placement?.engine ?? '', ...placement?.options }),
  health: ({ healthCheck }) =>
    facts(Object.fromEntries(Object.entries(healthCheck ?? {}).map(([name, value]) => [name, String(value)]))),
  hook: ({ hooks }) =>
    facts({
      release: hooks.release.join(' && '),
      'restart:before': hooks.restartBefore.join(' && '),
      'restart:after': hooks.restartAfter.join(' && '),
    }),
  volume: ({ mounts }) =>
    facts(
      Object.fromEntries(
        mounts.map(({ volume, path, processes }) => [
          volume,
          processes.length === 0 ? path : `${path} (${processes.join(', ')})`,
        ]),
      ),
    ),
  // What else of the settings is in effect shows in the processes and the volumes.
  build: ({ settings }) =>
    facts({
      command: settings.buildCommand,
      root: settings.root,
      'development packages': settings.keepDevPackages ? 'stay' : '',
    }),
};

/** Texts that are '' stand for nothing. */
function facts(texts: Readonly<Record<string, string>>): Facts {
  return new Map(Object.entries(texts).flatMap(([name, text]) => (text === '' ? [] : [[name, { text }]])));
}

function variable({ value, public: isPublic, managedBy }: EnvVar): Fact {
  return { text: managedBy === '' ? value : `${value} (of ${managedBy})`, isPrivate: !isPublic };
}

function inWords(check: ProcessType['liveness'] | ProcessType['healthCheck']): string {
  if (check === undefined || check === 'off') return check ?? '';
  return Object.entries(check)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

function changesOf(part: ReleaseChange['part'], before: Facts, after: Facts): ReleaseChange[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.flatMap((name): ReleaseChange[] => {
    const [one, other] = [before.get(name), after.get(name)];
    const isPrivate = one?.isPrivate === true || other?.isPrivate === true;
    if (one?.text === other?.text && one?.isPrivate === other?.isPrivate) return [];
    const kind = one === undefined ? 'added' : other === undefined ? 'removed' : 'changed';
    const shown = (fact: Fact | undefined): string => (isPrivate ? '' : (fact?.text ?? ''));
    return [{ part, name, kind, before: shown(one), after: shown(other), isPrivate }];
  });
}
