/** Settings of certificates: text -> value. */
import { isAbsolute } from 'node:path';
import { isIP } from 'node:net';
import { argvOf } from '../lib/argv-text.ts';
import { BadValue, email, httpUrl, httpUrlOrNone, type Parser } from './parsers.ts';

const DIRECTORY = 'https://acme-v02.api.letsencrypt.org/directory';
export const directory = httpUrl(DIRECTORY);
export const directoryOrNone = httpUrlOrNone(DIRECTORY);

/** Empty: none, as ''. */
export const emailOrNone: Parser<string> = (text) => (text.trim() === '' ? '' : email(text));

/** `id:key`, the key in base64url. Empty: none. */
export const externalAccountOrNone: Parser<{ readonly kid: string; readonly secret: string } | null> = (text) => {
  if (text.trim() === '') return null;
  const [, kid = '', secret = ''] = /^(\S+):([A-Za-z0-9_-]{16,})=*$/.exec(text.trim()) ?? [];
  if (kid !== '') return { kid, secret };
  throw new BadValue('must be the key id and the HMAC key with a colon between them, as the authority gave them');
};

/** Empty: none, as ''. */
export const word: Parser<string> = (text) => {
  const value = text.trim();
  if (/^[A-Za-z0-9._-]{0,64}$/.test(value)) return value;
  throw new BadValue('must be one word of letters, digits, dots and dashes');
};

/** Empty: none. */
export const absolutePathOrNone: Parser<string | null> = (text) => {
  const value = text.trim();
  if (value === '') return null;
  if (isAbsolute(value)) return value;
  throw new BadValue('must be an absolute path');
};

/** A program and its arguments, quoted as in a shell; nothing is expanded. Empty: none. */
export const argvOrNone: Parser<readonly string[] | null> = (text) => {
  if (text.trim() === '') return null;
  const argv = argvOf(text);
  if (argv !== null && isAbsolute(argv[0] ?? '')) return argv;
  throw new BadValue('must be the absolute path of a program and its arguments, quoted as in a shell');
};

/** Addresses, with a port or without, with commas between them. */
export const nameServers: Parser<readonly string[]> = (text) => {
  const entries = text.split(',').map((entry) => entry.trim());
  if (entries.join('') === '') return [];
  const isServer = (entry: string): boolean => {
    const [, bracketed, plain = ''] = /^(?:\[([^\]]+)\]|([0-9.]+))(?::[0-9]{1,5})?$/.exec(entry) ?? [];
    return isIP(bracketed ?? plain) !== 0 || isIP(entry) !== 0;
  };
  if (entries.every(isServer)) return entries;
  throw new BadValue('must be addresses with commas between them, for example 192.0.2.53, [2001:db8::53]:5353');
};
