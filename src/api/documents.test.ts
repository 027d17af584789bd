import { expect, it } from 'vitest';
import { documents } from './documents.ts';

it('the page without a search is made once, the others for what is searched', () => {
  for (const { path, render } of documents('1.2.3').filter((one) => one.path.endsWith('/docs'))) {
    const whole = render({});
    const begun = performance.now();
    for (let n = 0; n < 2_000; n += 1) expect(render({ q: ' ' })).toBe(whole);
    expect(performance.now() - begun, path).toBeLessThan(60_000);
    const found = render({ q: 'cname' });
    expect(found.length).toBeLessThan(whole.length);
    expect(found).toContain('value="cname"');
  }
});
