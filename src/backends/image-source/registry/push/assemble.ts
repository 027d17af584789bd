/** Pure: the documents of an image that is a base with layers of ours over it. Equal parts make equal bytes. */
import { createHash } from 'node:crypto';
import type { SlugManifest } from '../../../../domain/artifacts/slug.ts';
import { ORDINARY_USER } from '../../../../domain/artifacts/slug.ts';
import { ROUTED_PROCESS } from '../../../../domain/units/unit.ts';
import { shellArgv } from '../../../../lib/shell-argv.ts';
import { unfit } from '../failures.ts';
import { type Descriptor, jsonOf, type ImagePlatform, record } from '../manifests.ts';

export interface BuiltLayer extends Descriptor {
  /** Of what it unfolds to. */
  readonly diffId: string;
  /** What it is, for people. */
  readonly by: string;
}

interface Base {
  /** Text of its configuration. */
  readonly config: string;
  readonly layers: readonly Descriptor[];
}

interface Parts {
  readonly app: string;
  readonly base: Base;
  readonly layers: readonly BuiltLayer[];
  /** Where the code lies. */
  readonly code: string;
  readonly manifest: Pick<SlugManifest, 'env' | 'path' | 'base'>;
  /** Process name -> command line. */
  readonly processes: Readonly<Record<string, string>>;
  readonly processor: ImagePlatform;
}

interface Document {
  readonly text: string;
  readonly digest: string;
}

export const OCI_MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
export const ZSTD_LAYER = 'application/vnd.oci.image.layer.v1.tar+zstd';
const OCI_CONFIG = 'application/vnd.oci.image.config.v1+json';
/** Of the port where nobody says another one; engines do. */
const PORT = '8080';
const STANDARD_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const NEVER_MADE = '1970-01-01T00:00:00Z';

interface Assembled {
  readonly manifest: Document;
  readonly config: Document;
}

/** Throws Failure `invalid_source` for a base that says of itself what cannot be. */
export function assemble(parts: Parts): Assembled {
  const { base, layers, processor } = parts;
  const text = JSON.stringify(configOf(parts));
  const config = document(text);
  const { variant } = record(jsonOf(base.config, 'configuration'), 'its configuration');
  const all = [
    ...base.layers.map(asOci),
    ...layers.map(({ mediaType, digest, size }) => ({ mediaType, digest, size })),
  ];
  const manifest = {
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    config: { mediaType: OCI_CONFIG, digest: config.digest, size: Buffer.byteLength(text) },
    layers: all,
    annotations: {
      'org.opencontainers.image.title': parts.app,
      'org.opencontainers.image.platform': [`linux/${processor.architecture}`, variant].filter(Boolean).join('/'),
    },
  };
  return { config, manifest: document(JSON.stringify(manifest)) };
}

function configOf({ app, base, layers, code, manifest, processes, processor }: Parts): object {
  const own = record(jsonOf(base.config, 'configuration'), 'its configuration');
  const { diff_ids: below = [] } = record(own['rootfs'] ?? {}, 'its configuration');
  if (!Array.isArray(below) || below.length !== base.layers.length) {
    throw unfit('the base image says of itself that it has other layers than it has.');
  }
  const history = Array.isArray(own['history']) ? (own['history'] as unknown[]) : [];
  const { variant } = own;
  return {
    created: NEVER_MADE,
    architecture: processor.architecture,
    ...(typeof variant === 'string' && variant !== '' && { variant }),
    os: 'linux',
    config: {
      User: `${manifest.base?.uid ?? ORDINARY_USER}:${manifest.base?.gid ?? ORDINARY_USER}`,
      Env: environment(own, manifest),
      WorkingDir: code,
      Entrypoint: shellArgv(processes[ROUTED_PROCESS] ?? 'exec /bin/sh'),
      ExposedPorts: { [`${PORT}/tcp`]: {} },
      Labels: Object.fromEntries([
        ['org.opencontainers.image.title', app],
        ...Object.entries(processes)
          .sort()
          .map(([name, command]) => [`tancho.process.${name}`, command]),
      ]) as Record<string, string>,
    },
    rootfs: { type: 'layers', diff_ids: [...(below as unknown[]), ...layers.map(({ diffId }) => diffId)] },
    history: [...history, ...layers.map(({ by }) => ({ created: NEVER_MADE, created_by: by }))],
  };
}

/** What the base sets comes last, but for where programs are. */
function environment(base: Readonly<Record<string, unknown>>, { env, path }: Parts['manifest']): string[] {
  const { Env = [] } = record(base['config'] ?? {}, 'its configuration');
  const pairs = (Array.isArray(Env) ? (Env as unknown[]) : []).flatMap((entry) => {
    const [, name, value = ''] = /^([^=]+)=(.*)$/s.exec(String(entry)) ?? [];
    return name === undefined ? [] : [[name, value] as const];
  });
  const below = new Map(pairs);
  const all = new Map([...below, ['LANG', 'C.UTF-8'], ['HOME', '/tmp'], ['PORT', PORT], ...Object.entries(env)]);
  all.set('PATH', [...new Set([...path, ...(below.get('PATH') ?? STANDARD_PATH).split(':')])].join(':'));
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => `${name}=${value}`);
}

/** The same bytes under the name that goes with the others. */
function asOci({ mediaType, digest, size }: Descriptor): Descriptor {
  const [, packed = ''] = /docker\.image\.rootfs\.diff\.tar(?:\.(gzip|zstd))?$/.exec(mediaType) ?? [];
  if (!mediaType.includes('docker')) return { mediaType, digest, size };
  return { mediaType: `application/vnd.oci.image.layer.v1.tar${packed === '' ? '' : `+${packed}`}`, digest, size };
}

function document(text: string): Document {
  return { text, digest: `sha256:${createHash('sha256').update(text).digest('hex')}` };
}
