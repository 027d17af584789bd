/** Puts the table into the page that publishes it, so that no number there is typed by hand. */
import { readFile, writeFile } from 'node:fs/promises';

/** What the figures stand behind: those of a run of everything. */
const USUAL = '<!-- written by npm run bench -- --write -->';
const END = '<!-- end -->';

/** `measures`: as they were named; none: all that are run without a name. Those that are named have a place of their own, or none. */
export function placeOf(measures: readonly string[]): string {
  return measures.length === 0 ? USUAL : `<!-- written by npm run bench -- --only ${measures.join(',')} --write -->`;
}

/** Before anything is measured for it. Throws an Error. */
export async function demandPlace(page: string, place: string): Promise<void> {
  withFigures(await readFile(page, 'utf8'), '', place);
}

export async function publishIn(page: string, text: string, place: string): Promise<void> {
  await writeFile(page, withFigures(await readFile(page, 'utf8'), text, place));
}

export function withFigures(page: string, text: string, place: string): string {
  const begin = page.indexOf(place);
  const end = page.indexOf(END, begin);
  if (begin < 0 || end < 0) throw new Error(`the page has no place for figures between ${place} and ${END}`);
  return `${page.slice(0, begin)}${place}\n\n\`\`\`text\n${text}\n\`\`\`\n\n${page.slice(end)}`;
}
