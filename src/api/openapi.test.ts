import { describe, expect, it } from 'vitest';
import { openApiProblems } from '../../test/contract/openapi-rules.ts';
import { docsPage } from './docs-page.ts';
import { documents } from './documents.ts';
import { openApi } from './openapi.ts';
import { VARIANTS } from './variants.ts';

describe.each(VARIANTS)('the OpenAPI document of $name', (variant) => {
  it('follows the rules of OpenAPI 3.1', () => {
    expect(openApiProblems(openApi(variant, '1.0.0'))).toEqual([]);
  });

  it('is rendered as a page with every operation in it', () => {
    const document = openApi(variant, '1.0.0');
    const page = docsPage({ document, version: '1.0.0', prefix: variant.prefix, variants: [], query: '' });
    for (const [path, item] of Object.entries(document['paths'] as Record<string, object>)) {
      expect(page).toContain(`<code>${path}</code>`);
      expect(page.split(`<code>${path}</code>`)).toHaveLength(Object.keys(item).length + 1);
    }
    expect(page).toMatch(/Here is (?:what is served without a prefix|exactly the published variant [AB])/);
    expect(page).not.toMatch(/<script|javascript:|\son\w+=|https?:\/\/|style=/i);
  });
});

it('the rules notice what is wrong', () => {
  const [variant] = VARIANTS;
  if (variant === undefined) throw new Error('There is no variant.');
  const broken = structuredClone(openApi(variant, '1.0.0')) as {
    info: Record<string, unknown>;
    paths: Record<string, Record<string, Record<string, unknown>>>;
  };
  delete broken.info['version'];
  const operation = broken.paths['/apps/{app}']?.['get'] ?? {};
  operation['operationId'] = 'apps.list';
  operation['parameters'] = [{ name: 'ap', in: 'path', required: false, schema: { type: 'text' } }];
  operation['responses'] = { '20': { content: { json: { schema: { $ref: '#/components/schemas/None' } } } } };
  expect(openApiProblems(broken)).toEqual([
    '.info.version is missing',
    '.paths./apps/{app}.get.parameters[0].schema.type is none of string, boolean, integer, number, object, array, null',
    '.paths./apps/{app}.get.responses: "20" is no proper key',
    '.paths./apps/{app}.get.responses.20.description is missing',
    '.paths./apps/{app}.get.responses.20.content: "json" is no proper key',
    'the operationId apps.list is there twice',
    'there is no schema None',
    'get /apps/{app}: its parameters are ap',
    'get /apps/{app}: nothing is said of ap',
    'get /apps/{app}: ap must be required',
  ]);
});

describe('the page', () => {
  const page = documents('1.0.0').find(({ path }) => path === '/docs');
  const shown = async (query: Readonly<Record<string, unknown>>): Promise<string> => (await page?.render(query)) ?? '';
  const operationsOn = (text: string): number => text.split('<section ').length - 1;

  it('is searched by words that an operation must all have', async () => {
    const all = operationsOn(await shown({}));
    const found = await shown({ q: 'ENV  unset' });
    expect(operationsOn(found)).toBe(1);
    expect(found).toContain(`1 of ${all} operations`);
    expect(found).toContain('id="env.unset"');
    expect(await shown({ q: 'no-such-word-anywhere' })).toContain('Nothing here has all of these words.');
    expect(operationsOn(await shown({ q: ['a', 'b'] }))).toBe(all);
  });

  it('shows a command line with what must be there', async () => {
    const command = async (id: string): Promise<string | undefined> =>
      new RegExp(`id="${id}"[^]*?<pre>curl ([^<]*?)</pre>`).exec(await shown({ q: id }))?.[1];
    expect(await command('apps.log')).toContain(
      'GET &quot;$TANCHO_TARGET/apps/&lt;app&gt;/log?lines=&lt;lines&gt;&quot;',
    );
    expect(await command('apps.log_push')).toContain('POST &quot;$TANCHO_TARGET/apps/&lt;app&gt;/log&quot;');
  });

  it('shows what was searched for as text', async () => {
    const found = await shown({ q: `"><script>alert('1')</script>` });
    expect(found).toContain('value="&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"');
    expect(found).not.toContain('<script');
  });

  it('may load its style sheet and nothing else', () => {
    expect(page?.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'self';/);
  });
});
