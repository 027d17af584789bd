/** Replaces secret values in text. Values shorter than six characters are left alone: they would eat ordinary words. */
const SHORTEST = 6;

export type Redactor = (text: string) => string;

export function createRedactor(secrets: Iterable<string>): Redactor {
  const values = [...new Set(secrets)].filter((value) => value.length >= SHORTEST).sort((a, b) => b.length - a.length);
  const needles = [
    ...new Set(values.flatMap((value) => [value, ...value.split('\n').filter((line) => line.length >= SHORTEST)])),
  ];
  if (needles.length === 0) return (text) => text;
  return (text) => {
    let result = text;
    for (const needle of needles) {
      if (result.includes(needle)) result = result.replaceAll(needle, '***');
    }
    return result;
  };
}
