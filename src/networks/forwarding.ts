/**
 * The links of the machine forward the packets of apps while some home has networks; which of them did not before is noted beside the claims,
 * and taken back when no home has any more.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LINK_PREFIX } from './address-plan.ts';
import { CLAIMS, hasClaims, type KernelRoute } from './range-claims.ts';

const SETTINGS = '/proc/sys/net/ipv4/conf';
const NOTE = 'forwards-';

export interface ForwardingPlaces {
  /** Of the notes, and of the claims. */
  readonly claims: string;
  readonly settings: string;
}

const MACHINE: ForwardingPlaces = { claims: CLAIMS, settings: SETTINGS };

/** The machine's links beside its loopback; packets of units come back through them only when they forward. */
export function forward(routes: readonly KernelRoute[], { claims, settings }: ForwardingPlaces = MACHINE): void {
  for (const { dev = '' } of routes) {
    if (dev === '' || dev === 'lo' || dev.startsWith(LINK_PREFIX)) continue;
    const path = join(settings, dev, 'forwarding');
    if (!existsSync(path) || readFileSync(path, 'latin1').trim() !== '0') continue;
    mkdirSync(claims, { recursive: true, mode: 0o755 });
    writeFileSync(join(claims, `${NOTE}${dev}`), '', { mode: 0o600 });
    writeFileSync(path, '1');
  }
}

/** Nothing while a home has networks. A link that is gone, or no longer forwards, is left alone. */
export function takeForwardingBack({ claims, settings }: ForwardingPlaces = MACHINE): void {
  if (hasClaims(claims)) return;
  const notes = existsSync(claims) ? readdirSync(claims).filter((name) => name.startsWith(NOTE)) : [];
  for (const note of notes) {
    const path = join(settings, note.slice(NOTE.length), 'forwarding');
    if (existsSync(path)) writeFileSync(path, '0');
    rmSync(join(claims, note), { force: true });
  }
}
