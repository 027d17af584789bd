/** Artifacts without files. */
import { createHash } from 'node:crypto';
import type {
  ArtifactPlace,
  ArtifactStore,
  KeptArtifact,
  OpenArtifact,
} from '../../../domain/artifacts/artifact-store.ts';
import type { SlugManifest } from '../../../domain/artifacts/slug.ts';
import { Failure } from '../../../domain/failure.ts';

interface Kept {
  readonly app: string;
  /** Absent: of nothing in particular. */
  readonly manifest?: SlugManifest;
}

const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/i;
const EMPTY: SlugManifest = { format: 1, platform: '', path: [], env: {}, binds: [] };

export class MemoryArtifacts implements ArtifactStore {
  readonly name = 'memory';
  /** By id. */
  readonly kept = new Map<string, Kept>();
  readonly #begun = new Set<string>();

  begin(app: string, deploy: string): Promise<ArtifactPlace> {
    if (!NAME.test(app) || !NAME.test(deploy)) throw new TypeError(`no name of an artifact: ${app}/${deploy}`);
    const id = `${app}/${deploy}`;
    this.kept.delete(id);
    this.#begun.add(id);
    return Promise.resolve({ id, directory: `/nowhere/${id}`, code: `/nowhere/${id}/code` });
  }

  put({ id }: ArtifactPlace, manifest: SlugManifest): Promise<void> {
    this.#begun.delete(id);
    this.kept.set(id, { app: appOf(id), manifest });
    return Promise.resolve();
  }

  open(id: string): Promise<OpenArtifact | null> {
    const found = this.kept.get(id);
    if (found === undefined) return Promise.resolve(null);
    return Promise.resolve({ id, code: `/nowhere/${id}/code`, manifest: found.manifest ?? EMPTY, packed: null });
  }

  digest(id: string): Promise<string> {
    const found = this.kept.get(id);
    if (found === undefined) return Promise.reject(new Failure('internal', `There is no artifact "${id}".`));
    const { manifest = EMPTY } = found;
    const own = `sha256:${createHash('sha256').update(JSON.stringify(manifest)).digest('hex')}`;
    return Promise.resolve(manifest.image?.digest ?? own);
  }

  list(app?: string): Promise<KeptArtifact[]> {
    const all = [...this.kept].map(([id, one]) => ({ id, app: one.app }));
    return Promise.resolve(app === undefined ? all : all.filter((one) => one.app === app));
  }

  remove(id: string): Promise<void> {
    this.kept.delete(id);
    this.#begun.delete(id);
    return Promise.resolve();
  }

  removeUnfinished(): Promise<number> {
    const { size } = this.#begun;
    this.#begun.clear();
    return Promise.resolve(size);
  }
}

function appOf(id: string): string {
  return id.split('/', 1)[0] ?? '';
}
