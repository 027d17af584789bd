/** A registry in memory: which artifacts were pushed, under which names. */
import { createHash } from 'node:crypto';
import type { MemoryArtifacts } from '../../src/backends/artifact-store/memory/memory-artifacts.ts';
import type { ImageRegistry, PublishRequest } from '../../src/domain/artifacts/image-registry.ts';
import { Failure } from '../../src/domain/failure.ts';

export class MemoryImageRegistry implements ImageRegistry {
  /** Artifact -> name with digest. */
  readonly images = new Map<string, string>();
  readonly requests: PublishRequest[] = [];
  isAway = false;
  readonly #artifacts: MemoryArtifacts;

  constructor(artifacts: MemoryArtifacts) {
    this.#artifacts = artifacts;
  }

  async publish(request: PublishRequest, line: (text: string) => void): Promise<string> {
    this.#demandThere();
    if (!this.#artifacts.kept.has(request.artifact)) throw new Failure('internal', 'There is no such artifact.');
    this.requests.push(request);
    const of = JSON.stringify([request.artifact, request.processes]);
    const name = `registry.test/apps/${request.app}@sha256:${createHash('sha256').update(of).digest('hex')}`;
    this.images.set(request.artifact, name);
    line('pushed');
    return name;
  }

  async withdraw(image: Parameters<ImageRegistry['withdraw']>[0]): Promise<boolean> {
    this.#demandThere();
    const { unless = [] } = 'artifact' in image ? image : {};
    const gone = 'published' in image ? image.published : this.images.get(image.artifact);
    for (const [id, name] of this.images) if (name === gone && !unless.includes(name)) this.images.delete(id);
    return true;
  }

  async list(app: string): Promise<{ artifact: string; app: string }[]> {
    this.#demandThere();
    return [...this.images.keys()].filter((id) => id.startsWith(`${app}/`)).map((artifact) => ({ artifact, app }));
  }

  #demandThere(): void {
    if (this.isAway) throw new Failure('push_failed', 'The registry is away.');
  }
}
