/** One uid per tenant, remembered on disk: the same tenant always gets the same uid, and no two tenants share one. */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface UidRange {
  readonly from: number;
  readonly to: number;
}

/** Lies between what distributions give to people and services and where subordinate ids begin. */
const PREFERRED_RANGE: UidRange = { from: 70_000, to: 89_999 };
/** For containers that map only 65536 ids. */
const LOW_RANGE: UidRange = { from: 61_000, to: 64_999 };

/** Pure: chooses the range from /proc/self/uid_map (lines of inside, outside, count). */
export function uidRange(uidMap: string): UidRange | null {
  const maps = uidMap
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const covers = (range: UidRange): boolean =>
    maps.some(([inside = 0, , count = 0]) => inside <= range.from && range.to < inside + count);
  return [PREFERRED_RANGE, LOW_RANGE].find(covers) ?? null;
}

/** No app is called so. */
const ASIDE = ':left-';

interface TenantFile {
  readonly format: 1;
  readonly next: number;
  readonly uids: Readonly<Record<string, number>>;
}

export class Tenants {
  readonly #path: string;
  readonly #range: UidRange;
  /** As it is on disk: what could not be written down is not so. */
  #state: TenantFile;

  /**
   * `first`: where to begin, so that two platforms on one machine seldom use the same numbers.
   * Throws when the file is there but cannot be understood: guessing would hand one tenant's files to another.
   */
  constructor(stateDir: string, range: UidRange, first: number = range.from) {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    this.#path = join(stateDir, 'tenants.json');
    this.#range = range;
    this.#state = readState(this.#path) ?? { format: 1, next: first, uids: {} };
  }

  get range(): UidRange {
    return this.#range;
  }

  uid(tenant: string): number {
    const known = Object.hasOwn(this.#state.uids, tenant) ? this.#state.uids[tenant] : undefined;
    if (known !== undefined) return known;
    const uid = this.#free();
    this.#save({ ...this.#state, next: uid + 1, uids: { ...this.#state.uids, [tenant]: uid } });
    return uid;
  }

  /** Null when it has none. */
  known(tenant: string): number | null {
    return Object.hasOwn(this.#state.uids, tenant) ? (this.#state.uids[tenant] ?? null) : null;
  }

  /** The tenant is gone, but not what its user runs: nobody gets the uid until forget(). */
  setAside(tenant: string): void {
    const uid = this.known(tenant);
    if (uid === null) return;
    this.#save({ ...this.#state, uids: { ...this.#without(tenant), [`${ASIDE}${uid}`]: uid } });
  }

  /** Names under which uids are set aside. */
  aside(): string[] {
    return Object.keys(this.#state.uids).filter((tenant) => tenant.startsWith(ASIDE));
  }

  forget(tenant: string): void {
    if (!Object.hasOwn(this.#state.uids, tenant)) return;
    this.#save({ ...this.#state, uids: this.#without(tenant) });
  }

  #without(tenant: string): TenantFile['uids'] {
    return Object.fromEntries(Object.entries(this.#state.uids).filter(([other]) => other !== tenant));
  }

  /** Goes round the whole range before a number comes up again. */
  #free(): number {
    const taken = new Set(Object.values(this.#state.uids));
    const size = this.#range.to - this.#range.from + 1;
    const begin = Math.max(this.#state.next - this.#range.from, 0);
    for (let step = 0; step < size; step += 1) {
      const uid = this.#range.from + ((begin + step) % size);
      if (!taken.has(uid)) return uid;
    }
    throw new Error(`All ${size} user ids for apps (${this.#range.from}-${this.#range.to}) are in use.`);
  }

  #save(state: TenantFile): void {
    const draft = `${this.#path}.new`;
    const file = openSync(draft, 'w', 0o600);
    try {
      writeSync(file, JSON.stringify(state));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, this.#path);
    this.#state = state;
  }
}

function readState(path: string): TenantFile | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const parsed = JSON.parse(text) as Partial<TenantFile>;
  if (parsed.format !== 1 || typeof parsed.next !== 'number' || typeof parsed.uids !== 'object') {
    throw new Error(`${path} is not a list of tenants this version understands; restore it from a backup.`);
  }
  return { format: 1, next: parsed.next, uids: { ...parsed.uids } };
}
