import { COLON, IS_TOKEN, SPACE, TAB } from './octets.ts';
import { Refusal } from './refusal.ts';

export interface Field {
  /** Lower case. */
  readonly name: string;
  /** Without the white space around it. */
  readonly value: string;
  /** Where the line begins in the text it was read from. */
  readonly start: number;
  /** Just past the line's CRLF. */
  readonly end: number;
}

export const MAX_FIELDS = 128;

/**
 * Reads field lines from `text` (each ended by CRLF) up to its end. A line that begins with white space (obs-fold), a
 * name that is no token and white space before the colon are all refused by the one rule: token, then colon.
 */
export function parseFields(text: string, from: number): Field[] | Refusal {
  const fields: Field[] = [];
  let start = from;
  while (start < text.length) {
    if (fields.length === MAX_FIELDS) return new Refusal(431, `More than ${MAX_FIELDS} header fields.`);
    let colon = start;
    while (IS_TOKEN[text.charCodeAt(colon)] === 1) colon++;
    if (colon === start || text.charCodeAt(colon) !== COLON) return new Refusal(400, 'A header field is malformed.');
    const lineEnd = text.indexOf('\r\n', colon);
    let left = colon + 1;
    let right = lineEnd;
    while (left < right && isBlank(text.charCodeAt(left))) left++;
    while (right > left && isBlank(text.charCodeAt(right - 1))) right--;
    fields.push({
      name: text.slice(start, colon).toLowerCase(),
      value: text.slice(left, right),
      start,
      end: lineEnd + 2,
    });
    start = lineEnd + 2;
  }
  return fields;
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

/** Lower-case members of a comma-separated list. */
export function listOf(value: string): string[] {
  if (!value.includes(',')) return value === '' ? [] : [value.toLowerCase()];
  const members: string[] = [];
  for (const member of value.split(',')) {
    const trimmed = member.trim().toLowerCase();
    if (trimmed !== '') members.push(trimmed);
  }
  return members;
}
