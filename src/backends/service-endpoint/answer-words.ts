/** What of a provider's answer is meant for people: JSON that is no message may be full of credentials. */

import { isPage } from '../../lib/web-page.ts';

const WORDS = ['error', 'message', 'msg', 'description', 'detail', 'reason', 'title', 'hint'];
const DEEPEST = 2;
/** Of a page. */
const MAX_HEAD = 4_096;

export function wordsIn(text: string): string {
  if (isPage(text))
    return `a web page, ${JSON.stringify(/<title[^>]*>([^<]{0,200})/i.exec(text.slice(0, MAX_HEAD))?.[1]?.trim() ?? '')}`;
  if (!/^\s*[[{"]/.test(text)) return text;
  try {
    return wordsOf(JSON.parse(text) as unknown, DEEPEST).join(': ');
  } catch {
    // Cut off, or not JSON after all: nobody knows what it is.
    return /^\s*[[{]/.test(text) ? '' : text;
  }
}

function wordsOf(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth === 0) return [];
  const fields = new Map(Object.entries(value).map(([name, field]) => [name.toLowerCase(), field as unknown]));
  return WORDS.flatMap((name) => wordsOf(fields.get(name), depth - 1));
}
