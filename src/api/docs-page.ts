/**
 * The page at /docs: the OpenAPI document of a variant for people. Made on the server, without scripts and without anything
 * from elsewhere; the search is a form.
 */
import { escapeHtml as text } from '../lib/escape-html.ts';
import { curlOf, describeSchema, type DocumentedOperation, operationsOf, wordsOf } from './docs-operation.ts';

type Json = Readonly<Record<string, unknown>>;

interface DocsPage {
  readonly document: Json;
  readonly version: string;
  /** Of the variant that is shown. */
  readonly prefix: string;
  readonly variants: readonly { readonly prefix: string; readonly title: string }[];
  /** What is searched for; '' for everything. */
  readonly query: string;
}

export function docsPage(page: DocsPage): string {
  const all = operationsOf(page.document);
  const words = page.query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = all.filter((operation) => words.every((word) => wordsOf(operation).includes(word)));
  const groups = Map.groupBy(found, (one) => one.group);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tancho API</title>
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
${head(page, found.length, all.length)}
<details class="narrow"><summary>Operations</summary>${list(groups)}</details>
<div class="columns">
<nav class="list" aria-label="Operations">${list(groups)}</nav>
<main>
${[...groups].map(([group, operations]) => `<h2>${text(group)}</h2>\n${operations.map((one) => section(one, page)).join('\n')}`).join('\n')}
${found.length === 0 ? '<p>Nothing here has all of these words.</p>' : ''}
</main>
</div>
</body>
</html>
`;
}

/** What is shown, for those who do not know that the interface has two published variants. */
const SERVED: Readonly<Record<string, string>> = {
  '': 'what is served without a prefix: all paths of both published variants of this interface, and what common clients need besides',
  '/a': 'exactly the published variant A, served below <code>/a</code>',
  '/b': 'exactly the published variant B, served below <code>/b</code>',
};

function head({ prefix, variants, query, version }: DocsPage, found: number, all: number): string {
  const links = variants.map((variant) => {
    const current = variant.prefix === prefix ? ' aria-current="page"' : '';
    return `<a href="${variant.prefix}/docs"${current}>${text(variant.title)}</a>`;
  });
  const count = query === '' ? `${all} operations` : `${found} of ${all} operations`;
  return `<header>
<h1>Tancho API ${text(version)}</h1>
<span class="variants">${links.join('')}</span>
<p>Log in with <code>POST /users/&lt;email&gt;/tokens</code> and send the token as <code>Authorization: bearer &lt;token&gt;</code>.
Here is ${SERVED[prefix] ?? SERVED['']}. For programs there is <a href="${prefix}/openapi.json">openapi.json</a>. ${count}.</p>
<form method="get" action="${prefix}/docs" role="search">
<input type="search" name="q" value="${text(query)}" placeholder="Search: a path, a field, an error code" aria-label="Search">
<button>Search</button>
</form>
</header>`;
}

function list(groups: ReadonlyMap<string, readonly DocumentedOperation[]>): string {
  const lists = [...groups].map(([group, operations]) => {
    const items = operations.map(
      (one) => `<li><a href="#${text(one.id)}">${method(one.method)} ${text(one.path)}</a></li>`,
    );
    return `<h2>${text(group)}</h2><ul>${items.join('')}</ul>`;
  });
  return lists.join('\n');
}

function method(name: string): string {
  return `<span class="method ${name.toLowerCase()}">${text(name)}</span>`;
}

function section(operation: DocumentedOperation, { prefix }: DocsPage): string {
  const { id, path, summary, access, section: specified, parameters, bodies, answers, errors } = operation;
  const origin = specified === null ? 'beyond the specification' : `specification ${specified}`;
  return `<section id="${text(id)}">
<h3><a href="#${text(id)}">${method(operation.method)} <code>${text(path)}</code></a></h3>
<p>${text(summary)}</p>
<p class="facts">${text(ACCESS[access] ?? access)}; ${text(origin)}; <code>${text(id)}</code></p>
${table('Parameters', ['Name', 'In', 'Type', '', 'Meaning'], parameters)}
${requests(bodies)}
${answers.map(({ status, mediaType, schema, note }) => shape(`Answer ${status}${mediaType === '' ? '' : `, ${mediaType}`}`, mediaType === '' ? note : describeSchema(schema))).join('\n')}
${table('Errors', ['Status', 'Codes'], errors)}
<h4>For example</h4>
<pre>${text(curlOf(operation, prefix))}</pre>
</section>`;
}

/** The same fields in several forms are shown once. */
function requests(bodies: DocumentedOperation['bodies']): string {
  const shapes = new Map<string, string[]>();
  for (const { mediaType, schema } of bodies) {
    const described = describeSchema(schema);
    shapes.set(described, [...(shapes.get(described) ?? []), mediaType]);
  }
  return [...shapes].map(([described, types]) => shape(`Request, ${types.join(' or ')}`, described)).join('\n');
}

const ACCESS: Readonly<Record<string, string>> = {
  public: 'for everybody',
  user: 'needs the token of a user',
  token: 'needs the token of a user or of the app',
};

function shape(title: string, content: string): string {
  return `<h4>${text(title)}</h4>\n<pre>${text(content)}</pre>`;
}

function table(title: string, columns: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[], tag: string): string =>
    `<tr>${cells.map((cell) => `<${tag}>${text(cell)}</${tag}>`).join('')}</tr>`;
  return `<h4>${text(title)}</h4>\n<table>${line(columns, 'th')}${rows.map((row) => line(row, 'td')).join('')}</table>`;
}
