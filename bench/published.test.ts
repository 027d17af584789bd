import { expect, it } from 'vitest';
import { withFigures } from './published.ts';

const page = 'before\n\n<!-- written by npm run bench -- --write -->\nold\n<!-- end -->\n\nafter\n';

it('only what lies between the marks is replaced, again and again', () => {
  const once = withFigures(page, 'one $& 1');
  expect(once).toBe(page.replace('old\n', () => '\n```text\none $& 1\n```\n\n'));
  expect(withFigures(once, 'two')).toBe(withFigures(page, 'two'));
});

it('a page without marks is left alone', () => {
  expect(() => withFigures('nothing here', 'x')).toThrow('no place for figures');
});
