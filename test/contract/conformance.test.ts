/** The checks themselves: what is not as documented is noticed. */
import { describe, expect, it } from 'vitest';
import { type Answered, problemsOf } from './conformance.ts';
import { type Described, operationAt, type OpenApiDocument } from './document.ts';
import { Recorder } from './recorder.ts';

const schema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string' },
    size: { type: 'integer' },
    tags: { type: 'array', items: { type: 'string' } },
  },
};
const operation: Described = {
  method: 'GET',
  path: '/things/{thing}',
  operationId: 'things.info',
  summary: '',
  tags: [],
  parameters: [],
  responses: {
    200: { description: '', content: { 'application/json': { schema } } },
    204: { description: '' },
    404: {
      description: '',
      headers: { 'x-tancho-error': {} },
      content: { 'text/plain': { schema: { type: 'string' } } },
    },
  },
  'x-access': 'public',
  'x-errors': ['thing.not_found'],
};
const good: Answered = {
  status: 200,
  contentType: 'application/json; charset=utf-8',
  text: '{"name":"a"}',
  code: undefined,
  headers: [],
};
const missing: Answered = {
  status: 404,
  contentType: 'text/plain',
  text: 'no',
  code: 'thing.not_found',
  headers: ['x-tancho-error'],
};

describe('an answer', () => {
  it.each<[string, Answered, string[]]>([
    ['as documented', good, []],
    ['as documented, an error', missing, []],
    ['as documented, without a body', { ...good, status: 204, contentType: '', text: '' }, []],
    ['with another status', { ...good, status: 201 }, ['status 201 is not documented']],
    ['with another type', { ...good, contentType: 'text/html' }, ['content type "text/html" is not documented']],
    ['with another field', { ...good, text: '{"name":"a","colour":1}' }, ['.colour is not documented']],
    ['without a field', { ...good, text: '{}' }, ['.name is missing']],
    [
      'with a field of another type',
      { ...good, text: '{"name":1,"size":1.5}' },
      ['.name is no string', '.size is no integer'],
    ],
    ['with an item of another type', { ...good, text: '{"name":"a","tags":["a",1]}' }, ['.tags[] is no string']],
    ['that is no JSON', { ...good, text: '<html>' }, ['not JSON: <html>']],
    ['with a body where there is none', { ...good, status: 204 }, ['there is a body, and none is documented']],
    ['with another code', { ...missing, code: 'team.not_found' }, ['code team.not_found is not documented']],
    ['without a header', { ...missing, headers: [] }, ['the header x-tancho-error is missing']],
  ])('%s', (_, answered, problems) => {
    expect(problemsOf(operation, answered, {})).toEqual(problems);
  });
});

it('the operation of a path is the one that names it most closely', () => {
  const at = (path: string): Described => ({ ...operation, path, operationId: path });
  const operations = [
    at('/things/{thing}'),
    at('/things/all'),
    at('/things/{thing}/{part}'),
    at('/things/{thing}/doc'),
  ];
  const found = (path: string): string | undefined => operationAt(operations, 'GET', path)?.operationId;
  expect(found('/things/all')).toBe('/things/all');
  expect(found('/things/1/')).toBe('/things/{thing}');
  expect(found('/things/all/doc')).toBe('/things/{thing}/doc');
  expect(found('/things//doc')).toBeUndefined();
});

it('the recorder keeps what was wrong, per variant, and what succeeded', () => {
  const { method, path, ...described } = operation;
  const document: OpenApiDocument = {
    openapi: '3.1.0',
    paths: { [path]: { [method.toLowerCase()]: described } },
    components: { schemas: {} },
  };
  const recorder = new Recorder({ union: document, a: document, b: document });
  recorder.saw({ ...good, method, path: '/b/things/1?x=1' });
  recorder.saw({ ...good, method, path: '/things/1', status: 418 });
  recorder.saw({ ...good, method, path: '/a/nothing' });
  expect(recorder.hasSucceeded('b', 'things.info')).toBe(true);
  expect(recorder.hasSucceeded('union', 'things.info')).toBe(false);
  expect([...recorder.problems]).toEqual([
    'union GET /things/{thing} (418): status 418 is not documented',
    'a GET /nothing: not documented, and answered 200',
  ]);
});
