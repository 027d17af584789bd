/** Replaces secret values in text. Values shorter than six characters are left alone: they would eat ordinary words. */
const SHORTEST = 6;

export type Redactor = (text: string) => string;

/** The password of an address, as it is written and as it is meant. */
const PASSWORD = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]*?:([^\s/?#]+)@/i;

/**
 * Each line of a value with several lines is a secret too, and the password in an address; white space around one is not part of it;
 * nor does it matter whether it is printed as it is or inside JSON.
 */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const lines = [...secrets].flatMap((value) => [value, ...value.split(/\r?\n/)]).map((part) => part.trim());
  const parts = lines.flatMap((line) => [line, ...passwordsIn(line)]);
  const quoted = parts.map((part) => JSON.stringify(part).slice(1, -1));
  const needles = [...new Set([...parts, ...quoted])]
    .filter((part) => part.length >= SHORTEST)
    .sort((a, b) => b.length - a.length);
  if (needles.length === 0) return (text) => text;
  return (text) => {
    let result = text;
    for (const needle of needles) {
      if (result.includes(needle)) result = result.replaceAll(needle, '***');
    }
    return result;
  };
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
