/** What the server says about itself: per variant the OpenAPI document, for programs, and a page of it, for people. */
import { once } from '../lib/once.ts';
import { VARIANTS } from './variants.ts';

interface ServedDocument {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  render(query: Readonly<Record<string, unknown>>): Promise<string>;
}

/** Nothing but the style sheet of this server; no script at all. */
const POLICY = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const TITLES = { union: 'Both variants', a: 'Variant A', b: 'Variant B' } as const;
const LONGEST_SEARCH = 200;

export const DOCUMENT_PATHS: readonly string[] = [
  ...VARIANTS.flatMap(({ prefix }) => [`${prefix}/openapi.json`, `${prefix}/docs`]),
  '/docs/style.css',
];

export function documents(version: string): ServedDocument[] {
  const variants = VARIANTS.map(({ name, prefix }) => ({ prefix, title: TITLES[name] }));
  const perVariant = VARIANTS.flatMap((variant): ServedDocument[] => {
    const { prefix } = variant;
    const document = once(async () => (await import('./openapi.ts')).openApi(variant, version));
    const json = once(async () => JSON.stringify(await document()));
    const page = async (query: string): Promise<string> => {
      const { docsPage } = await import('./docs-page.ts');
      return docsPage({ document: await document(), version, prefix, variants, query });
    };
    // Anybody may ask for it, and making it takes longer than most requests do.
    const whole = once(() => page(''));
    return [
      {
        path: `${prefix}/openapi.json`,
        headers: { 'content-type': 'application/json; charset=utf-8' },
        render: () => json(),
      },
      {
        path: `${prefix}/docs`,
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': POLICY,
          'referrer-policy': 'no-referrer',
        },
        render({ q }) {
          const query = typeof q === 'string' ? q.trim().slice(0, LONGEST_SEARCH) : '';
          return query === '' ? whole() : page(query);
        },
      },
    ];
  });
  return [
    ...perVariant,
    {
      path: '/docs/style.css',
      headers: { 'content-type': 'text/css; charset=utf-8' },
      render: async () => (await import('./docs-style.ts')).DOCS_STYLE,
    },
  ];
}
