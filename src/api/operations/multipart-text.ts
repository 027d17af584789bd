/** Texts in a multipart form, as clients send small files; whole in memory, so only for bodies with a bound. */
import type { RawBody } from '../body.ts';

const MAX_HEAD = 4_096;
const NAME = /content-disposition:[^\r\n]*?[;\s]name="?([^";\r\n]*)"?/i;

/** Name -> text of each part; null when the body is none. The boundary is its first line, whatever the label says. */
export function readMultipart({ text }: RawBody): Map<string, string> | null {
  const [, boundary] = /^(--[^\r\n]{1,200})\r?\n/.exec(text) ?? [];
  if (boundary === undefined || !NAME.test(text.slice(0, MAX_HEAD))) return null;
  const fields = new Map<string, string>();
  for (const part of `\n${text}`.split(`\n${boundary}`).slice(1)) {
    const [, head, content] = /^\r?\n([\s\S]*?)\r?\n\r?\n([\s\S]*)$/.exec(part) ?? [];
    const name = NAME.exec((head ?? '').slice(0, MAX_HEAD))?.[1];
    if (name !== undefined && content !== undefined) fields.set(name, content.replace(/\r$/, ''));
  }
  return fields;
}
