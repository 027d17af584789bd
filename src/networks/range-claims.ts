/**
 * Which home uses which range of addresses on this machine: one file per range in a directory of the machine, made exclusively,
 * so that two homes never take the same one. A claim ends with its home.
 */
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LINK_PREFIX, RANGE_SIZE } from './address-plan.ts';
import { blockOf, overlaps, toText } from '../lib/ipv4.ts';

export const CLAIMS = '/run/tancho/networks';

/** Carrier-grade addresses, which machines seldom see; where something of this machine has them, the upper half of 10.0.0.0/8. */
const POOLS = ['100.64.0.0/10', '10.128.0.0/9'];

interface Claim {
  readonly scope: string;
  /** Directory of the home's sandbox; the claim is void when that is gone. */
  readonly stateDir: string;
}

/** As `ip -json route show table all` has them. */
export interface KernelRoute {
  readonly dst?: string;
  readonly dev?: string;
}

/** Pure: pools that nothing of the machine overlaps but what is of a home. */
export function freePools(routes: readonly KernelRoute[]): string[] {
  const foreign = routes
    .filter(({ dst, dev = '' }) => dst !== undefined && dst !== 'default' && !dev.startsWith(LINK_PREFIX))
    .map(({ dst = '' }) => blockOf(dst))
    .filter((block) => block !== null);
  return POOLS.filter((pool) => {
    const block = blockOf(pool);
    return block !== null && !foreign.some((other) => overlaps(block, other));
  });
}

/** First address of the claimed range; an earlier claim of the same home is kept. Throws when nothing is free. */
export function claimRange(claim: Claim, routes: readonly KernelRoute[], directory = CLAIMS): string {
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const pools = freePools(routes).map((pool) => blockOf(pool));
  const former = namesIn(directory).find((name) => readClaim(join(directory, name))?.scope === claim.scope);
  if (former !== undefined) return former;
  for (const block of pools) {
    if (block === null) continue;
    const count = Math.floor((block.last - block.first + 1) / RANGE_SIZE);
    const begin = Number.parseInt(claim.scope, 16) % count;
    for (let step = 0; step < count; step += 1) {
      const base = toText(block.first + ((begin + step) % count) * RANGE_SIZE);
      if (makeClaim(join(directory, base), claim)) return base;
    }
  }
  throw new Error(`no range of addresses is free for apps in ${POOLS.join(' and ')}`);
}

export function hasClaims(directory = CLAIMS): boolean {
  return namesIn(directory).length > 0;
}

export function releaseRange(scope: string, directory = CLAIMS): void {
  for (const name of namesIn(directory)) {
    if (readClaim(join(directory, name))?.scope === scope) rmSync(join(directory, name), { force: true });
  }
}

/**
 * Has what homes that are gone have left on the machine removed, then takes their claims off the list; a claim whose removal fails stays, for
 * the next one to try again. Returns the scopes that were cleared.
 */
export async function clearAbandoned(
  remove: (scope: string) => Promise<void>,
  directory = CLAIMS,
): Promise<readonly string[]> {
  const cleared: string[] = [];
  for (const name of namesIn(directory)) {
    const claim = readClaim(join(directory, name));
    if (claim === null || existsSync(claim.stateDir)) continue;
    try {
      await remove(claim.scope);
    } catch {
      // What others have left keeps nobody from a start.
      continue;
    }
    if (!existsSync(claim.stateDir)) dropClaim(join(directory, name), claim, directory);
    cleared.push(claim.scope);
  }
  return cleared;
}

function dropClaim(path: string, { scope }: Claim, directory: string): void {
  const aside = join(directory, `.gone-${scope}-${process.pid}`);
  try {
    renameSync(path, aside);
    const moved = readClaim(aside);
    // Somebody else was quicker, and a third has claimed the range anew meanwhile.
    if (moved !== null && moved.scope !== scope) linkSync(aside, path);
    rmSync(aside, { force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function makeClaim(path: string, claim: Claim): boolean {
  const draft = `${path}.${claim.scope}.new`;
  writeFileSync(draft, JSON.stringify(claim), { mode: 0o600 });
  try {
    // Whole or not at all, and never over another's.
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => blockOf(name) !== null);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function readClaim(path: string): Claim | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Claim;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return null;
    throw error;
  }
}
