/**
 * Which tenants reach which others, and at which address they find them: kept on disk beside the notes of networks, because every
 * platform process of a home writes the packet filter as a whole.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LINKED } from './address-plan.ts';

/** One tenant that others reach. */
export interface LinkedTenant {
  readonly tenant: string;
  /** Who reaches it. */
  readonly from: readonly string[];
  /** Its sandboxes that take the connections, in turn, each at a port of its own. */
  readonly targets: readonly { readonly id: string; readonly port: number }[];
}

export interface NotedLink extends LinkedTenant {
  /** Of the address of the home's range that stands for it. */
  readonly index: number;
}

interface LinkFile {
  /** Where the search for the next index begins: one that was in use is not given to another at once. */
  readonly next: number;
  readonly links: readonly NotedLink[];
}

const NONE: LinkFile = { next: LINKED.from, links: [] };

export class TenantLinks {
  readonly #path: string;

  constructor(directory: string) {
    this.#path = join(directory, 'links.json');
  }

  all(): readonly NotedLink[] {
    return this.#read().links;
  }

  /** Those that a tenant reaches. */
  from(tenant: string): NotedLink[] {
    return this.all().filter(({ from }) => from.includes(tenant));
  }

  /**
   * In place of all that were before; a tenant keeps its index for as long as it is linked. `taken`: indexes that are not to be had.
   * False: nothing has changed. Throws when no index is left.
   */
  replace(wanted: readonly LinkedTenant[], taken: ReadonlySet<number>): boolean {
    const before = this.#read();
    const known = new Map(before.links.map(({ tenant, index }) => [tenant, index]));
    const used = new Set([...taken, ...known.values()]);
    let { next } = before;
    const links = wanted.map(({ tenant, from, targets }) => {
      const index = known.get(tenant) ?? freeIndex(next, used);
      if (!known.has(tenant)) next = index + 1;
      used.add(index);
      return { tenant, from, targets, index };
    });
    const after: LinkFile = { next, links };
    if (JSON.stringify(after) === JSON.stringify(before)) return false;
    const draft = `${this.#path}.new`;
    writeFileSync(draft, JSON.stringify(after), { mode: 0o600 });
    renameSync(draft, this.#path);
    return true;
  }

  #read(): LinkFile {
    try {
      return JSON.parse(readFileSync(this.#path, 'utf8')) as LinkFile;
    } catch (error) {
      // Cut short by a loss of power: the next table brings it back.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return NONE;
      throw error;
    }
  }
}

function freeIndex(first: number, used: ReadonlySet<number>): number {
  const size = LINKED.to - LINKED.from + 1;
  for (let step = 0; step < size; step += 1) {
    const index = LINKED.from + ((first - LINKED.from + step) % size);
    if (!used.has(index)) return index;
  }
  throw new Error(`At most ${size} apps can be reached by others.`);
}
