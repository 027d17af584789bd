import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { demandPlace, placeOf, withFigures } from './published.ts';

const PAGE = 'docs/performance.md';
const USUAL = placeOf([]);

const page = 'before\n\n<!-- written by npm run bench -- --write -->\nold\n<!-- end -->\n\nafter\n';

it('only what lies between the marks is replaced, again and again', () => {
  const once = withFigures(page, 'one $& 1', USUAL);
  expect(once).toBe(page.replace('old\n', () => '\n```text\none $& 1\n```\n\n'));
  expect(withFigures(once, 'two', USUAL)).toBe(withFigures(page, 'two', USUAL));
});

it('a page without marks is left alone', () => {
  expect(() => withFigures('nothing here', 'x', USUAL)).toThrow('no place for figures');
});

it('figures of what is run alone have a place of their own', () => {
  const LONG = placeOf(['logs']);
  const both = `${page}\n${LONG}\n<!-- end -->\nlast\n`;
  expect(withFigures(both, 'alone', LONG)).toBe(
    `${page}\n${LONG}\n\n\`\`\`text\nalone\n\`\`\`\n\n<!-- end -->\nlast\n`,
  );
});

it('one measure alone never takes the place of all', async () => {
  await expect(demandPlace(PAGE, placeOf(['push']))).rejects.toThrow('no place for figures');
  await expect(demandPlace(PAGE, USUAL)).resolves.toBeUndefined();
});

it('whatever is run only where it is named has a place', async () => {
  const long = globSync('bench/measures/*.ts').filter((file) => readFileSync(file, 'utf8').includes('  longMs:'));
  const names = long.map((file) => file.replace(/^.*\/|\.ts$/g, ''));
  expect(names).toContain('kubernetes');
  for (const name of names) await demandPlace(PAGE, placeOf([name]));
});
