/** What an answer has to look like; each function throws a ContractViolation that says what it looks like instead. */
import { isPage } from '../../lib/web-page.ts';
import type { CallResult } from './caller.ts';

/** The contract does not hold; the message says in which way. */
export class ContractViolation extends Error {
  override readonly name = 'ContractViolation';
}

/** Not tried; the message says why. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
}

const SHOWN = 120;
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/;
const RESERVED = /^(?:PORT|TANCHO_.*|TSURU_.*)$/;
const MOST_VARIABLES = 100;
const MOST_VALUE_BYTES = 65_536;

export function isSuccess({ status }: CallResult): boolean {
  return status >= 200 && status < 300;
}

/** `status 500: cannot do it`; the text of a success may be a secret and is not shown. */
export function shown(reply: CallResult): string {
  if (reply.status === 0) return reply.text;
  const text = reply.text.replace(/\s+/g, ' ').trim();
  if (isSuccess(reply) || text === '') return `status ${reply.status}`;
  return `status ${reply.status}: ${text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text}`;
}

export function mustSucceed(reply: CallResult): void {
  if (!isSuccess(reply)) throw new ContractViolation(shown(reply));
  if (isPage(reply.text)) throw new ContractViolation(`${shown(reply)} with a web page`);
}

export function mustBe(reply: CallResult, ...statuses: readonly number[]): void {
  if (!statuses.includes(reply.status))
    throw new ContractViolation(`${shown(reply)}, expected ${statuses.join(' or ')}`);
}

/** It is now, or was already. */
export const GONE: readonly number[] = [404, 410];

export function mustBeGone(reply: CallResult): void {
  if (!isSuccess(reply) && !GONE.includes(reply.status)) throw new ContractViolation(shown(reply));
  if (isPage(reply.text)) throw new ContractViolation(`status ${reply.status} with a web page`);
}

/** The provider has no such call, which the platform takes for an empty list. */
export function isNotOffered({ status }: CallResult): boolean {
  return [204, 404, 405, 501].includes(status);
}

/** A clear no: neither done, nor a fault, nor silence. */
export function mustRefuse(reply: CallResult, what: string): void {
  if (reply.status < 400 || reply.status > 499)
    throw new ContractViolation(`${what}: ${shown(reply)}, expected 400 to 499`);
}

function jsonOf(reply: CallResult): unknown {
  if (!isSuccess(reply)) throw new ContractViolation(shown(reply));
  try {
    return JSON.parse(reply.text);
  } catch {
    throw new ContractViolation('the answer is not JSON');
  }
}

/** Lists of objects whose named members are strings. */
export function listOf(reply: CallResult, ...members: readonly string[]): Readonly<Record<string, string>>[] {
  const value = jsonOf(reply);
  if (!Array.isArray(value)) throw new ContractViolation('the answer is not a list');
  for (const item of value as unknown[]) {
    const record = item as Record<string, unknown> | null;
    for (const member of members) {
      if (typeof record?.[member] !== 'string') throw new ContractViolation(`an item has no text "${member}"`);
    }
  }
  return value as Record<string, string>[];
}

export function variablesOf(reply: CallResult): Readonly<Record<string, string>> {
  const value = jsonOf(reply) ?? {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw new ContractViolation('the answer is not an object of variables');
  const entries = Object.entries(value);
  if (entries.length > MOST_VARIABLES) throw new ContractViolation(`there are more than ${MOST_VARIABLES} variables`);
  for (const [name, text] of entries) {
    if (RESERVED.test(name)) throw new ContractViolation(`${name} belongs to the platform`);
    if (!NAME.test(name)) throw new ContractViolation(`${JSON.stringify(name)} is no name of an environment variable`);
    if (typeof text !== 'string') throw new ContractViolation(`${name} is no text; numbers have to be quoted too`);
    if (text.includes('\u0000')) throw new ContractViolation(`${name} has a NUL character`);
    if (Buffer.byteLength(text) > MOST_VALUE_BYTES)
      throw new ContractViolation(`${name} has more than ${MOST_VALUE_BYTES} bytes`);
  }
  return value as Record<string, string>;
}

export function sameVariables(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}
