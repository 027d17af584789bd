/** Replaces secret values in text. Values shorter than six characters are left alone: they would eat ordinary words. */
import { setImmediate } from 'node:timers/promises';
import { Occurrences, withReplaced } from './occurrences.ts';

const SHORTEST = 6;
/** Others come in between. */
const SLICE_MS = 10;
export const MASK = '***';

export interface Redactor {
  (text: string): string;
  /** The same, a piece of the work with each step. Absent: it is little work. */
  readonly steps?: (text: string) => Generator<undefined, string>;
}

/** What an address has before its path. */
const AUTHORITY = /^[a-z][a-z0-9+.-]*:\/\/([^\s/?#]*)/i;
/** Lines of values that are looked for beside the values themselves, and lines of their base64: each is looked for in whatever is printed. */
const MAX_LINES = 2_000;
const MAX_WRAPPED = 2_000;
/** Values that are looked for in other forms, too. */
const MAX_ENCODED = 200;
/** Shorter ones would be found in what is no secret. */
const SHORTEST_ENCODED = 8;
const WRAPPED_AT = [76, 64];
const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export function createRedactor(secrets: Iterable<string>): Redactor {
  return redactorOf(secretForms(secrets));
}

/**
 * What is looked for, the longest first.
 *
 * Each line of a value with several lines is a secret too, and the password in an address; white space around one is not part of it;
 * nor does it matter whether it is printed as it is or inside JSON. Of more lines than anybody's keys have the longest are looked for,
 * and of their base64 those of the shortest values.
 */
export function secretForms(secrets: Iterable<string>): string[] {
  const values = [...secrets];
  const whole = needlesOf(withPasswords(values));
  const lines = needlesOf(withPasswords(values.flatMap((value) => value.split(/\r?\n/)))).slice(0, MAX_LINES);
  const longest = whole.slice(0, MAX_ENCODED);
  return byLength(new Set([...whole, ...lines, ...longest.flatMap(encodings), ...wrappedLines(longest)]));
}

/** What is looked for is the same for all units of a release. */
const known = new WeakMap<readonly string[], Occurrences>();

/** `forms`: the longest first, see secretForms(). */
export function occurrencesOf(forms: readonly string[]): Occurrences {
  const occurrences = known.get(forms) ?? new Occurrences(forms);
  known.set(forms, occurrences);
  return occurrences;
}

export function redactorOf(forms: readonly string[]): Redactor {
  const shortest = forms.at(-1)?.length ?? Infinity;
  function* steps(text: string): Generator<undefined, string> {
    if (text.length < shortest) return text;
    const found = yield* occurrencesOf(forms).stepsIn(text);
    return found.length === 0 ? text : withReplaced(text, found, MASK);
  }
  const redact = (text: string): string => {
    if (text.length < shortest) return text;
    const found = occurrencesOf(forms).in(text);
    return found.length === 0 ? text : withReplaced(text, found, MASK);
  };
  return Object.assign(redact, { steps });
}

/** How a value is written in hexadecimal digits, in base64 wherever in a text it stands, in HTML, in a form, a query and JSON within JSON. */
function encodings(value: string): string[] {
  const bytes = Buffer.from(value);
  const hex = bytes.toString('hex');
  const base64 = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // What shares a character with its neighbours is another one with others.
    const shared = (before + bytes.length) % 3 === 0 ? 0 : 1;
    return text.slice(before === 0 ? 0 : before + 1, text.length - shared);
  });
  const urlSafe = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const html = value.replace(/[&<>"']/g, (character) => HTML[character] ?? character);
  const twice = JSON.stringify(JSON.stringify(value).slice(1, -1)).slice(1, -1);
  const all = [hex, hex.toUpperCase(), ...base64, ...urlSafe, html, twice, ...withEncoded([value])];
  return all.filter((text) => text.length >= SHORTEST_ENCODED);
}

/** `values`: the longest first. */
function wrappedLines(values: readonly string[]): string[] {
  const lines: string[] = [];
  for (const value of values.toReversed()) {
    if (lines.length >= MAX_WRAPPED) break;
    lines.push(...wrapped(Buffer.from(value)).filter((text) => text.length >= SHORTEST_ENCODED));
  }
  return lines.slice(0, MAX_WRAPPED);
}

/** The lines of base64 as programs wrap them: mail and `base64`, keys and `openssl`. */
function wrapped(bytes: Buffer): string[] {
  const text = bytes.toString('base64').replace(/=+$/, '');
  return WRAPPED_AT.flatMap((width) =>
    text.length > width ? (text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []) : [],
  );
}

/** The values, and how each is written in a form, a query and a path: whoever quotes a request quotes them so. */
export function withEncoded(values: readonly string[]): string[] {
  const forms = values.flatMap((value) => {
    // Half a character cannot be encoded.
    const text = Buffer.from(value).toString();
    return [new URLSearchParams([['', text]]).toString().slice(1), encodeURIComponent(text)];
  });
  return [...new Set([...values, ...forms])];
}

/** As far as the last `@`. One expression for all of it would begin anew at each colon of a long value. */
function passwordOf(address: string): string | null {
  const authority = AUTHORITY.exec(address)?.[1] ?? '';
  const colon = authority.indexOf(':');
  const end = authority.lastIndexOf('@');
  const isThere = colon >= 0 && end > colon + 1 && authority.indexOf('@') > colon;
  return isThere ? authority.slice(colon + 1, end) : null;
}

/** The password of an address, as it is written and as it is meant. */
export function passwordsIn(address: string): string[] {
  const written = passwordOf(address);
  if (written === null) return [];
  try {
    return [written, decodeURIComponent(written)];
  } catch {
    return [written];
  }
}

function withPasswords(texts: readonly string[]): string[] {
  return texts.flatMap((text) => [text, ...passwordsIn(text.trim())]);
}

/** The texts, each as `redact` answers it, at the price of looking through one. However long that takes, others come in between. */
export async function redactAll(redact: Redactor, texts: readonly string[]): Promise<string[]> {
  const slices = { beganAt: performance.now() };
  const all = texts.join('\n');
  const done = await inSlices(redact, all, slices);
  if (done === all) return [...texts];
  const parts = done.split('\n');
  // Where a secret of several lines has been found the lines are others.
  const isSame = parts.length === texts.length && !texts.some((text) => text.includes('\n'));
  if (isSame) return parts;
  const each: string[] = [];
  for (const text of texts) each.push(await inSlices(redact, text, slices));
  return each;
}

async function inSlices(redact: Redactor, text: string, slices: { beganAt: number }): Promise<string> {
  if (redact.steps === undefined) return redact(text);
  const steps = redact.steps(text);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (performance.now() - slices.beganAt < SLICE_MS) continue;
    await setImmediate();
    slices.beganAt = performance.now();
  }
}

function needlesOf(texts: readonly string[]): string[] {
  const parts = texts.map((text) => text.trim());
  const quoted = parts.map((part) => JSON.stringify(part).slice(1, -1));
  return byLength(new Set([...parts, ...quoted].filter((part) => part.length >= SHORTEST)));
}

function byLength(needles: ReadonlySet<string>): string[] {
  return [...needles].sort((a, b) => b.length - a.length);
}
