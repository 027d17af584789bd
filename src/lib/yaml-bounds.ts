/**
 * What a YAML text may be before a parser sees it. Parsers go down once per level and compare each key with all others, so a
 * small text by a stranger can take the stack, and with it the process, or a minute.
 */

export const MAX_YAML_BYTES = 32 * 1024;
const MAX_INDENT = 200;
const MAX_OPEN = 100;
/** All by which a line can go down a level before its first word. */
const LEADING = /^[ \t\-?:]*/;

/** Why the text is not to be parsed, in words that follow its name; null when it may be. */
export function beyondYamlBounds(text: string): string | null {
  if (text.length > MAX_YAML_BYTES || Buffer.byteLength(text) > MAX_YAML_BYTES) {
    return `is longer than ${MAX_YAML_BYTES} bytes`;
  }
  let open = 0;
  for (const line of text.split(/\r\n?|\n/)) {
    if ((LEADING.exec(line)?.[0].length ?? 0) > MAX_INDENT) return 'is nested too deeply';
    for (const character of line) {
      if (character === '[' || character === '{') open += 1;
      else if ((character === ']' || character === '}') && open > 0) open -= 1;
      if (open > MAX_OPEN) return 'is nested too deeply';
    }
  }
  return null;
}
