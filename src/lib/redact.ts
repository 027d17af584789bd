/** Replaces secret values in text. Values shorter than six characters are left alone: they would eat ordinary words. */
const SHORTEST = 6;

export type Redactor = (text: string) => string;

/** The password of an address, as it is written and as it is meant. */
const PASSWORD = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]*?:([^\s/?#]+)@/i;
/** Lines of values that are looked for beside the values themselves: each is looked for in whatever is printed. */
const MAX_LINES = 2_000;

/**
 * Each line of a value with several lines is a secret too, and the password in an address; white space around one is not part of it;
 * nor does it matter whether it is printed as it is or inside JSON. Of more lines than anybody's keys have the longest are looked for.
 */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const values = [...secrets];
  const whole = needlesOf(withPasswords(values));
  const lines = needlesOf(withPasswords(values.flatMap((value) => value.split(/\r?\n/)))).slice(0, MAX_LINES);
  const needles = byLength(new Set([...whole, ...lines]));
  const shortest = needles.at(-1)?.length ?? Infinity;
  return (text) => {
    if (text.length < shortest) return text;
    let result = text;
    for (const needle of needles) {
      if (result.includes(needle)) result = result.replaceAll(needle, '***');
    }
    return result;
  };
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

export function passwordsIn(address: string): string[] {
  const written = PASSWORD.exec(address)?.[1];
  if (written === undefined) return [];
  try {
    return [written, decodeURIComponent(written)];
  } catch {
    return [written];
  }
}

function withPasswords(texts: readonly string[]): string[] {
  return texts.flatMap((text) => [text, ...passwordsIn(text.trim())]);
}

/** The texts, each as `redact` answers it, at the price of looking through one. */
export function redactAll(redact: Redactor, texts: readonly string[]): string[] {
  const all = texts.join('\n');
  const done = redact(all);
  if (done === all) return [...texts];
  const parts = done.split('\n');
  // Where a secret of several lines has been found the lines are others.
  const isSame = parts.length === texts.length && !texts.some((text) => text.includes('\n'));
  return isSame ? parts : texts.map(redact);
}

function needlesOf(texts: readonly string[]): string[] {
  const parts = texts.map((text) => text.trim());
  const quoted = parts.map((part) => JSON.stringify(part).slice(1, -1));
  return byLength(new Set([...parts, ...quoted].filter((part) => part.length >= SHORTEST)));
}

function byLength(needles: ReadonlySet<string>): string[] {
  return [...needles].sort((a, b) => b.length - a.length);
}
