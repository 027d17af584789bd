/** Test support: the objects of a small API server, with versions, a history for watches, owners and finalizers. */
import { isRecord } from '../../lib/is-record.ts';
import type { Kind } from '../kinds.ts';
import type { KubernetesObject, Metadata } from '../objects.ts';

export type StoredObject = KubernetesObject & { readonly spec?: unknown; readonly status?: unknown };

export interface Recorded {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly plural: string;
  readonly object: StoredObject;
}

/** As the API answers it. */
export class ApiRefusal extends Error {
  readonly code: number;
  readonly reason: string;

  constructor(code: number, reason: string, message: string) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

export class StoredObjects {
  version = 100;
  /** Watches from before it are refused. */
  oldest = 100;
  /** What happened, for watches. */
  readonly history: Recorded[] = [];
  readonly #objects = new Map<string, StoredObject>();
  /** By object: what was applied last, so that what is missing next time goes. */
  readonly #applied = new Map<string, object>();
  readonly #listeners = new Set<(recorded: Recorded) => void>();

  listen(listener: (recorded: Recorded) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  all(plural: string): StoredObject[] {
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(`${plural} `)).sort();
    return keys.flatMap((key) => this.#objects.get(key) ?? []);
  }

  find(plural: string, { namespace = '', name }: Pick<Metadata, 'namespace' | 'name'>): StoredObject | null {
    return this.#objects.get(`${plural} ${namespace}/${name}`) ?? null;
  }

  of<T extends KubernetesObject>({ plural }: Kind<T>): T[] {
    return this.all(plural) as unknown as T[];
  }

  create(plural: string, object: StoredObject): StoredObject {
    if (this.find(plural, object.metadata) !== null) {
      throw new ApiRefusal(409, 'AlreadyExists', `${plural} "${object.metadata.name}" already exists`);
    }
    const metadata = {
      ...object.metadata,
      uid: `uid-${this.version + 1}`,
      generation: 1,
      creationTimestamp: new Date().toISOString().replace(/\.\d+/, ''),
    };
    return this.#put('ADDED', plural, { ...object, metadata });
  }

  /** `change` gets what is there; its version is checked where `expected` names one. */
  update(
    plural: string,
    what: Pick<Metadata, 'namespace' | 'name'>,
    expected: string | undefined,
    change: (now: StoredObject) => StoredObject,
  ): StoredObject {
    const now = this.find(plural, what);
    if (now === null) throw new ApiRefusal(404, 'NotFound', `${plural} "${what.name}" not found`);
    if (expected !== undefined && expected !== now.metadata.resourceVersion) {
      throw new ApiRefusal(
        409,
        'Conflict',
        `the object has been modified; please apply your changes to the latest version`,
      );
    }
    const changed = change(structuredClone(now));
    const { uid, creationTimestamp, deletionTimestamp, resourceVersion, generation = 1 } = now.metadata;
    const isSameSpec = JSON.stringify(changed.spec) === JSON.stringify(now.spec);
    const metadata = {
      ...changed.metadata,
      ...{ uid, creationTimestamp, resourceVersion, generation: isSameSpec ? generation : generation + 1 },
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    } as Metadata;
    const next = { ...changed, metadata };
    if (JSON.stringify(next) === JSON.stringify(now)) return now;
    if (deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0 && !isGraceful(plural, next)) {
      return this.#remove(plural, next);
    }
    return this.#put('MODIFIED', plural, next);
  }

  apply(plural: string, object: StoredObject): StoredObject {
    const key = keyOf(plural, object.metadata);
    const { resourceVersion, ...metadata } = object.metadata;
    const wanted = { ...object, metadata };
    const before = this.#applied.get(key) ?? {};
    this.#applied.set(key, wanted);
    if (this.find(plural, object.metadata) === null) {
      if (resourceVersion !== undefined) throw new ApiRefusal(409, 'Conflict', 'it is not there any more');
      return this.create(plural, wanted as StoredObject);
    }
    return this.update(
      plural,
      object.metadata,
      resourceVersion,
      (now) => merged(without(now, before, wanted), wanted) as StoredObject,
    );
  }

  patch(
    plural: string,
    what: Pick<Metadata, 'namespace' | 'name'>,
    patch: Readonly<Record<string, unknown>>,
  ): StoredObject {
    const metadata = isRecord(patch['metadata']) ? patch['metadata'] : {};
    const { resourceVersion } = metadata;
    const expected = typeof resourceVersion === 'string' ? resourceVersion : undefined;
    return this.update(plural, what, expected, (now) => mergePatched(now, patch) as StoredObject);
  }

  delete(
    plural: string,
    what: Pick<Metadata, 'namespace' | 'name'>,
    options: { propagation: string; graceSeconds?: number },
  ): StoredObject {
    const now = this.find(plural, what);
    if (now === null) throw new ApiRefusal(404, 'NotFound', `${plural} "${what.name}" not found`);
    const isHeld = (now.metadata.finalizers ?? []).length > 0;
    if (isHeld || (isGraceful(plural, now) && options.graceSeconds !== 0)) {
      const graceSeconds = options.graceSeconds ?? 30;
      // A pod that is ending already can be given less time, and never more.
      if (graceSeconds >= (now.metadata.deletionGracePeriodSeconds ?? Infinity)) return now;
      const marked = {
        deletionTimestamp: now.metadata.deletionTimestamp ?? new Date().toISOString(),
        deletionGracePeriodSeconds: graceSeconds,
      };
      return this.#put('MODIFIED', plural, { ...now, metadata: { ...now.metadata, ...marked } });
    }
    return this.#remove(plural, now, options.propagation);
  }

  /** As etcd does when it compacts: watches that have not come so far are refused. */
  forgetHistory(): void {
    this.oldest = this.version;
    this.history.length = 0;
  }

  #remove(plural: string, object: StoredObject, propagation = 'Background'): StoredObject {
    this.#objects.delete(keyOf(plural, object.metadata));
    this.#applied.delete(keyOf(plural, object.metadata));
    this.version += 1;
    const last = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.version) } };
    this.#record({ version: this.version, type: 'DELETED', plural, object: last });
    for (const [key, owned] of [...this.#objects]) {
      const owners = owned.metadata.ownerReferences ?? [];
      if (!owners.some(({ uid }) => uid === object.metadata.uid)) continue;
      const kind = key.slice(0, key.indexOf(' '));
      const left = owners.filter(({ uid }) => uid !== object.metadata.uid);
      if (propagation === 'Orphan') {
        this.update(kind, owned.metadata, undefined, (now) => ({
          ...now,
          metadata: { ...now.metadata, ownerReferences: left },
        }));
      } else this.delete(kind, owned.metadata, { propagation });
    }
    return last;
  }

  #put(type: Recorded['type'], plural: string, object: StoredObject): StoredObject {
    this.version += 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.version) } };
    this.#objects.set(keyOf(plural, object.metadata), stored);
    this.#record({ version: this.version, type, plural, object: stored });
    return stored;
  }

  #record(recorded: Recorded): void {
    this.history.push(recorded);
    for (const listener of [...this.#listeners]) listener(recorded);
  }
}

function keyOf(plural: string, { namespace = '', name }: Pick<Metadata, 'namespace' | 'name'>): string {
  return `${plural} ${namespace}/${name}`;
}

/** A pod goes when its kubelet says so. */
function isGraceful(plural: string, object: StoredObject): boolean {
  const { spec } = object;
  return plural === 'pods' && isRecord(spec) && typeof spec['nodeName'] === 'string';
}

/** Objects are merged, everything else is replaced. */
function merged(now: unknown, wanted: unknown): unknown {
  if (!isRecord(now) || !isRecord(wanted)) return wanted;
  return {
    ...now,
    ...Object.fromEntries(Object.entries(wanted).map(([key, value]) => [key, merged(now[key], value)])),
  };
}

/** What was applied before and is not wanted any more is taken away. */
function without(now: unknown, before: unknown, wanted: unknown): unknown {
  if (!isRecord(now) || !isRecord(before)) return now;
  const kept = Object.entries(now).flatMap(([key, value]) => {
    if (!(key in before)) return [[key, value] as const];
    if (isRecord(wanted) && key in wanted) return [[key, without(value, before[key], wanted[key])] as const];
    return isRecord(value) && isRecord(before[key]) ? [[key, without(value, before[key], {})] as const] : [];
  });
  return Object.fromEntries(kept);
}

function mergePatched(now: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(now) ? { ...now } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatched(result[key], value);
  }
  return result;
}
