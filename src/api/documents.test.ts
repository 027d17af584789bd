import { expect, it } from 'vitest';
import { documents } from './documents.ts';

it('the page without a search is made once, the others for what is searched', async () => {
  const pages = documents('1.2.3').filter((one) => one.path.endsWith('/docs'));
  expect(pages).toHaveLength(3);
  for (const { path, render } of pages) {
    const whole = render({});
    expect(render({ q: ' ' }), path).toBe(whole);
    const found = await render({ q: 'cname' });
    expect(found.length).toBeLessThan((await whole).length);
    expect(found).toContain('value="cname"');
  }
});
