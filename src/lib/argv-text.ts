/** A list of arguments as one line of text, and back, in the quoting of the shell; nothing is ever expanded. */

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

export function argvText(argv: readonly string[]): string {
  return argv.map((word) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}

/** Null where a quote is not closed. */
export function argvOf(text: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? '';
    if (/[ \t\r\n]/.test(sign)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (sign === "'" || sign === '"') {
      const quoted = quotedAt(text, at);
      if (quoted === null) return null;
      word = (word ?? '') + quoted.text;
      at = quoted.end;
    } else if (sign === '\\') {
      at += 1;
      if (at >= text.length) return null;
      word = (word ?? '') + (text[at] ?? '');
    } else {
      word = (word ?? '') + sign;
    }
  }
  return word === null ? words : [...words, word];
}

/** `end`: where the closing quote stands. */
function quotedAt(text: string, start: number): { text: string; end: number } | null {
  const quote = text[start];
  let found = '';
  for (let at = start + 1; at < text.length; at += 1) {
    const sign = text[at] ?? '';
    if (sign === quote) return { text: found, end: at };
    const isEscape = quote === '"' && sign === '\\' && /["\\$`]/.test(text[at + 1] ?? '');
    if (isEscape) at += 1;
    found += text[at] ?? '';
  }
  return null;
}
