import { PlatformError } from '../errors.ts';
import type { Settings } from '../settings.ts';

const MAX_LENGTH = 253;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** A wildcard for a whole top-level domain is nobody's to have. */
const MIN_WILDCARD_LABELS = 2;

/** An extra host name of an app: lower case, without port, `*.` at the most at its beginning; not one of the platform's own. */
export function checkCname(value: unknown, { domain, apiDomain }: Pick<Settings, 'domain' | 'apiDomain'>): string {
  const name = typeof value === 'string' ? value.trim().toLowerCase().replace(/\.$/, '') : '';
  const isWildcard = name.startsWith('*.');
  const plain = isWildcard ? name.slice(2) : name;
  const labels = plain.split('.');
  const isAddress = /^\d+$/.test(labels.at(-1) ?? '');
  const isHost = name.length <= MAX_LENGTH && labels.every((label) => LABEL.test(label)) && !isAddress;
  if (!isHost || (isWildcard && labels.length < MIN_WILDCARD_LABELS)) {
    throw new PlatformError('cname.invalid', 'Invalid cname', {
      hint: 'Use a host name such as www.example.com or *.example.com, without port or path.',
    });
  }
  if (plain === domain || plain.endsWith(`.${domain}`)) {
    throw new PlatformError('cname.invalid', `Invalid cname: names below ${domain} belong to the platform.`, {
      hint: 'Use a host name of your own domain.',
    });
  }
  // It leads here, so everybody could prove it, and then present a certificate of their own for it.
  if (plain === apiDomain) {
    throw new PlatformError('cname.invalid', `Invalid cname: ${apiDomain} is the name of the platform itself.`, {
      hint: 'Use another host name.',
    });
  }
  return name;
}
