/** Every field of every operation that takes text, found in the server's own document. */
import { type Described, idOf, type Schema } from './document.ts';
import { type Examples, examplePath, exampleBody } from './examples.ts';
import type { Ask } from './target.ts';

export interface Attack {
  readonly what: string;
  readonly method: string;
  readonly path: string;
  readonly ask: Ask;
}

export interface Field {
  readonly operation: Described;
  readonly name: string;
  readonly place: 'path' | 'query' | 'body';
  attack(text: string, examples: Examples): Attack;
}

const FORM = 'application/x-www-form-urlencoded';
const TEXT = { 'content-type': 'text/plain' };

export function fieldsOf(operation: Described): Field[] {
  const parameters = operation.parameters.map(({ name, in: place }) =>
    place === 'path'
      ? field(operation, name, place, (text, examples) => ({
          path: pathWith(operation, name, text, examples),
          ask: exampleBody(operation),
        }))
      : field(operation, name, place, (text, examples) => ({
          path: `${examplePath(operation, examples).split('?', 1)[0] ?? ''}?${new URLSearchParams({ [name]: text }).toString()}`,
          ask: exampleBody(operation),
        })),
  );
  return [...parameters, ...bodyFields(operation)];
}

function bodyFields(operation: Described): Field[] {
  const content = operation.requestBody?.content ?? {};
  const names = new Set(Object.values(content).flatMap(({ schema }) => textNames(schema)));
  const inJson = [...names].map((name) => bodyField(operation, name, (text) => ({ body: { [name]: text } })));
  const inForm = [...names].map((name) =>
    bodyField(operation, `${name} (form)`, (text) => ({
      body: new URLSearchParams({ [name]: text }).toString(),
      headers: { 'content-type': FORM },
    })),
  );
  if (operation.requestBody === undefined) return [];
  return [
    ...inJson,
    ...inForm,
    bodyField(operation, 'the whole body', (text) => ({ body: text, headers: TEXT })),
    bodyField(operation, 'a key', (text) => ({ body: { [text]: 'x' } })),
    bodyField(operation, 'an item', (text) => ({ body: [text] })),
  ];
}

/** Fields of an object that may be text; of a map, one that stands for all. */
function textNames(schema: Schema | undefined): string[] {
  const named = Object.entries(schema?.properties ?? {}).filter(([, { type = 'string' }]) =>
    [type].flat().includes('string'),
  );
  return [...named.map(([name]) => name), ...(schema?.patternProperties === undefined ? [] : ['A'])];
}

function bodyField(operation: Described, name: string, ask: (text: string) => Ask): Field {
  return field(operation, name, 'body', (text, examples) => ({
    path: examplePath(operation, examples),
    ask: ask(text),
  }));
}

function field(
  operation: Described,
  name: string,
  place: Field['place'],
  make: (text: string, examples: Examples) => { path: string; ask: Ask },
): Field {
  return {
    operation,
    name,
    place,
    attack(text, examples) {
      const what = `${idOf(operation)} ${place} ${name}: ${JSON.stringify(text.slice(0, 80))}`;
      return { what, method: operation.method, ...make(text, examples) };
    },
  };
}

/** The text is encoded unless it is written as `raw:...`. */
function pathWith(operation: Described, name: string, text: string, examples: Examples): string {
  const part = text.startsWith('raw:')
    ? text.slice('raw:'.length)
    : encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));
  return examplePath({ ...operation, path: operation.path.replace(`{${name}}`, () => part) }, examples);
}
