/** The scripts and styles that a page of HTML loads from its own app. */

const MOST = 6;
const LONGEST_TAG = 1_000;
const TAG = new RegExp(`<(script|link|base)\\s([^>]{1,${LONGEST_TAG}})>`, 'gi');

/** Without those of other hosts. */
export function assetsOf(html: string, page: URL): URL[] {
  let base = page;
  const found = new Map<string, URL>();
  // What is commented out is not loaded.
  for (const [, tag = '', attributes = ''] of html.replace(/<!--[^]*?(?:-->|$)/g, '').matchAll(TAG)) {
    const kind = tag.toLowerCase();
    const named = attribute(attributes, kind === 'script' ? 'src' : 'href');
    if (named === '' || !URL.canParse(named, base.href)) continue;
    const url = new URL(named, base);
    url.hash = '';
    if (kind === 'base') base = url;
    else if (isLoaded(kind, attributes) && url.origin === page.origin) found.set(url.href, url);
  }
  return [...found.values()].slice(0, MOST);
}

function isLoaded(kind: string, attributes: string): boolean {
  if (kind === 'script') return !/\snomodule\b/i.test(` ${attributes}`);
  return attribute(attributes, 'rel').toLowerCase().split(/\s+/).includes('stylesheet');
}

function attribute(attributes: string, name: string): string {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(attributes);
  return (found?.[1] ?? found?.[2] ?? found?.[3] ?? '').trim().replaceAll('&amp;', '&');
}
