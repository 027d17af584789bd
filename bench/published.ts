/** Puts the table into the page that publishes it, so that no number there is typed by hand. */
import { readFile, writeFile } from 'node:fs/promises';

const BEGIN = '<!-- written by npm run bench -- --write -->';
const END = '<!-- end -->';

export async function publishIn(page: string, text: string): Promise<void> {
  await writeFile(page, withFigures(await readFile(page, 'utf8'), text));
}

export function withFigures(page: string, text: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END, begin);
  if (begin < 0 || end < 0) throw new Error(`the page has no place for figures between ${BEGIN} and ${END}`);
  return `${page.slice(0, begin)}${BEGIN}\n\n\`\`\`text\n${text}\n\`\`\`\n\n${page.slice(end)}`;
}
