/** Replaces secret values in text. Values shorter than six characters are left alone: they would eat ordinary words. */
const SHORTEST = 6;

export type Redactor = (text: string) => string;

/**
 * Each line of a value with several lines is a secret too, and white space around one is not part of it; nor does it matter
 * whether it is printed as it is or inside JSON.
 */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const parts = [...secrets].flatMap((value) => [value, ...value.split(/\r?\n/)]).map((part) => part.trim());
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
