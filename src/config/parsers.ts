/** Text of one setting -> value. A parser throws BadValue with what it wants to see; it never repeats the text it was given. */
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { parseNetwork } from '../lib/trusted-proxies.ts';
import { allowEntry } from '../lib/guarded/allow-list.ts';
import { blockOf } from '../lib/ipv4.ts';
import type { Listen } from './config.ts';

export class BadValue extends Error {
  override readonly name = 'BadValue';
}

export type Parser<T> = (text: string) => T;

const HOST_NAME = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const LISTEN = /^(?:\[([^\]]*)\]|([^:[\]]*)):([0-9]{1,5})$/;
const EMAIL = /^[^@\s]{1,64}@(?:[-a-z0-9]+\.)+[a-z]{2,}$/;
const SIZE = /^([0-9]{1,15})\s*([kmgt]?)(?:i?b)?$/i;
const DURATION = /^([0-9]{1,9})\s*([smh]?)$/;

/** `host:port`, `[::1]:port`, `:port` (every address of this machine). Port 0 is any free port. */
export const listen: Parser<Listen> = (text) => {
  const wanted = 'must be host:port, for example 127.0.0.1:8080, [::1]:8080 or :8080';
  const match = LISTEN.exec(text.trim());
  if (match === null) throw new BadValue(wanted);
  const [, ipv6, name = '', digits = ''] = match;
  const port = Number(digits);
  if (port > 65_535) throw new BadValue('must have a port between 0 and 65535');
  if (ipv6 !== undefined) {
    if (!isIPv6(ipv6)) throw new BadValue('must have an IPv6 address between the brackets, for example [::1]:8080');
    return { host: ipv6, port };
  }
  if (name === '') return { host: '0.0.0.0', port };
  const host = name.toLowerCase();
  if (!HOST_NAME.test(host)) throw new BadValue(wanted);
  if (/^[0-9.]+$/.test(host) && !isIPv4(host)) throw new BadValue('must have a valid IPv4 address');
  return { host, port };
};

/** As listen, `auto` or `off`. */
export const listenAutoOrOff: Parser<Listen | 'auto' | 'off'> = (text) => {
  const value = text.trim();
  if (value === 'auto' || value === 'off') return value;
  try {
    return listen(value);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    throw new BadValue(`${error.message}; or auto, or off`);
  }
};

export const hostName: Parser<string> = (text) => {
  const name = text.trim().toLowerCase();
  if (!HOST_NAME.test(name)) throw new BadValue('must be a host name, for example localhost or apps.example.com');
  return name;
};

/** Empty: none. */
export const hostNameOrNone: Parser<string | null> = (text) => (text.trim() === '' ? null : hostName(text));

/** Empty: none. */
export const ipAddressOrNone: Parser<string | null> = (text) => {
  const value = text.trim();
  if (value === '') return null;
  if (isIP(value) === 0) throw new BadValue('must be an IP address, for example 203.0.113.5 or 2001:db8::5');
  return value;
};

export function choice<T extends string>(...allowed: readonly T[]): Parser<T> {
  return (text) => {
    const found = allowed.find((name) => name === text.trim());
    if (found === undefined) throw new BadValue(`must be one of: ${allowed.join(', ')}`);
    return found;
  };
}

export function wholeNumber(least: number, most: number): Parser<number> {
  return (text) => {
    const digits = text.trim();
    const value = Number(digits);
    if (!/^[0-9]{1,15}$/.test(digits) || value < least || value > most) {
      throw new BadValue(`must be a whole number from ${least} to ${most}`);
    }
    return value;
  };
}

/** Empty: none. */
export function wholeNumberOrNone(least: number, most: number): Parser<number | null> {
  const parse = wholeNumber(least, most);
  return (text) => (text.trim() === '' ? null : parse(text));
}

const SECONDS = { '': 1, s: 1, m: 60, h: 3600 } as const;

/** `90`, `90s`, `2m`, `1h` -> seconds. */
export function seconds(least: number, most: number): Parser<number> {
  return (text) => {
    const match = DURATION.exec(text.trim());
    const unit = (match?.[2] ?? '') as keyof typeof SECONDS;
    const value = Number(match?.[1] ?? Number.NaN) * SECONDS[unit];
    if (!(value >= least && value <= most)) {
      throw new BadValue(`must be a time from ${least} to ${most} seconds, for example 90, 90s, 2m or 1h`);
    }
    return value;
  };
}

const POWERS = { '': 0, k: 1, m: 2, g: 3, t: 4 } as const;

/** `1048576`, `512M`, `1G` -> bytes (powers of 1024). */
export function size(least: number, zeroMeansNone: boolean): Parser<number> {
  return (text) => {
    const match = SIZE.exec(text.trim());
    const power = (match?.[2] ?? '').toLowerCase() as keyof typeof POWERS;
    const value = Number(match?.[1] ?? Number.NaN) * 1024 ** POWERS[power];
    const good = value >= least || (zeroMeansNone && value === 0);
    if (!good || !Number.isSafeInteger(value)) {
      const none = zeroMeansNone ? ', or 0 for no limit' : '';
      throw new BadValue(`must be a size of at least ${least} bytes${none}, for example 512M or 2G`);
    }
    return value;
  };
}

export const email: Parser<string> = (text) => {
  const value = text.trim().toLowerCase();
  if (!EMAIL.test(value)) throw new BadValue('must be an e-mail address, for example admin@example.com');
  return value;
};

/** Empty: none. The limits are those of every password of the platform (specification section 8). */
export const passwordOrNone: Parser<string | null> = (text) => {
  if (text === '') return null;
  const characters = [...text].length;
  if (characters < 6 || characters > 50) throw new BadValue('must have 6 to 50 characters');
  return text;
};

const SEAL_KEY = /^[0-9a-f]{8} [A-Za-z0-9+/]{43}=$/;

/** Empty: none. */
export const sealKeyOrNone: Parser<string | null> = (text) => {
  const value = text.trim();
  if (value === '') return null;
  if (!SEAL_KEY.test(value)) throw new BadValue('must be the line of a secret.key: eight digits, a space, and the key');
  return value;
};

export const databaseUrlOrNone: Parser<string | null> = (text) => {
  const value = text.trim();
  if (value === '') return null;
  const wanted = 'must be a PostgreSQL address, for example postgres://user:password@db.example.com:5432/tancho';
  const protocol = URL.canParse(value) ? new URL(value).protocol : '';
  if (protocol !== 'postgres:' && protocol !== 'postgresql:') throw new BadValue(wanted);
  return value;
};

export const mailUrlOrNone: Parser<string | null> = (text) => {
  const value = text.trim();
  if (value === '') return null;
  const wanted = 'must be the address of a mail server, for example smtp://user:password@mail.example.com:587';
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '') throw new BadValue(wanted);
  if (!/^\/?$/.test(url.pathname) || url.search !== '') throw new BadValue(wanted);
  if (/%(?![0-9a-f]{2})/i.test(url.username + url.password)) throw new BadValue(wanted);
  return value;
};

export function httpUrl(example: string): Parser<string> {
  return (text) => {
    const url = text.trim();
    if (/^https?:\/\//i.test(url) && URL.canParse(url)) return url;
    throw new BadValue(`must be a URL, for example ${example}`);
  };
}

/** Empty: none. */
export function httpUrlOrNone(example: string): Parser<string | null> {
  return (text) => (text.trim() === '' ? null : httpUrl(example)(text));
}

/** `name=value` with commas between them; a value may hold commas. */
export const httpHeaders: Parser<ReadonlyMap<string, string>> = (text) => {
  const headers = new Map<string, string>();
  const entries = text.split(/,(?=\s*[A-Za-z0-9-]+=)/).map((entry) => entry.trim());
  if (entries.join('') === '') return headers;
  for (const entry of entries) {
    const [, name = '', value = ''] = /^([A-Za-z0-9-]{1,64})\s*=\s*([\x20-\x7e]{1,4096})$/.exec(entry) ?? [];
    if (name === '' || headers.has(name.toLowerCase())) {
      throw new BadValue(
        'must be name=value with commas between them, for example authorization=Bearer abc, each name once',
      );
    }
    headers.set(name.toLowerCase(), value);
  }
  return headers;
};

/** `name=http://...` with commas between them. */
export const namedUrls: Parser<ReadonlyMap<string, string>> = (text) => {
  const urls = new Map<string, string>();
  const entries = text.split(/,(?=\s*[^,=/?#]+=\s*https?:)/).map((entry) => entry.trim());
  if (entries.join('') === '') return urls;
  for (const entry of entries) {
    const [, name = '', address = ''] = /^([a-z][a-z0-9-]{0,62})\s*=\s*(https?:\/\/\S+)$/.exec(entry) ?? [];
    const url = URL.canParse(address) ? new URL(address) : null;
    const isGood = url !== null && !/%(?![0-9a-f]{2})/i.test(url.username + url.password);
    if (!isGood || urls.has(name)) {
      throw new BadValue(
        'must be name=address with commas between them, for example disk=http://10.0.0.5/heal, each name once',
      );
    }
    urls.set(name, address);
  }
  return urls;
};

const REGISTRY = /^(?=.{1,260}$)(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/;

/** `host=user:password` with commas between them; a password may hold commas. */
export const registryLogins: Parser<ReadonlyMap<string, { user: string; password: string }>> = (text) => {
  const logins = new Map<string, { user: string; password: string }>();
  const entries = text.split(/,(?=\s*[^,=\s]+=[^,:]+:)/).map((entry) => entry.trim());
  if (entries.join('') === '') return logins;
  for (const entry of entries) {
    const [, name = '', user = '', password = ''] = /^([^=\s]+)\s*=\s*([^:\s]+):(\S+)$/.exec(entry) ?? [];
    const host = name.toLowerCase();
    if (!REGISTRY.test(host) || password === '' || logins.has(host)) {
      throw new BadValue(
        'must be host=user:password with commas between them, for example registry.example.com=ann:secret, each host once',
      );
    }
    logins.set(host, { user, password });
  }
  return logins;
};

/** As images name them, with commas between them. */
export const registryHosts: Parser<readonly string[]> = (text) => {
  const hosts = text.split(',').map((entry) => entry.trim().toLowerCase());
  if (hosts.join('') === '') return [];
  if (hosts.every((host) => REGISTRY.test(host))) return hosts;
  throw new BadValue(
    'must be hosts of registries with commas between them, for example localhost:5000, registry.internal',
  );
};

/** Addresses and networks with commas between them. */
export const networks: Parser<readonly string[]> = (text) => {
  const entries = text.split(',').map((entry) => entry.trim());
  if (entries.join('') === '') return [];
  if (entries.some((entry) => parseNetwork(entry) === null))
    throw new BadValue('must be addresses and networks with commas between them, for example 127.0.0.1, 10.0.0.0/8');
  return entries;
};

export const onOff: Parser<boolean> = (text) => choice('on', 'off')(text) === 'on';

/** CIDR networks of IPv4 with commas between them; '' for none. */
export const ipv4Networks: Parser<readonly string[]> = (text) => {
  const entries = text.split(',').map((entry) => entry.trim());
  if (entries.join('') === '') return [];
  if (entries.some((entry) => blockOf(entry) === null)) {
    throw new BadValue('must be IPv4 networks with commas between them, for example 10.1.0.0/16, 192.168.7.0/24');
  }
  return entries;
};

/** Names, addresses and networks with commas between them. */
export const allowedAddresses: Parser<readonly string[]> = (text) => {
  const entries = text.split(',').map((entry) => entry.trim());
  if (entries.join('') === '') return [];
  const isGood = entries.every((entry) => allowEntry(entry) !== null);
  if (!isGood)
    throw new BadValue('must be hosts and networks with commas between them, for example db.internal, 10.0.0.0/8');
  return entries;
};
