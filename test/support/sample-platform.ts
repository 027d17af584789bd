/** A server that answers every operation of the API with a sample of what its document says, and remembers what was called. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openApi } from '../../src/api/openapi.ts';
import { VARIANTS } from '../../src/api/variants.ts';
import {
  type Described,
  idOf,
  type OpenApiDocument,
  operationAt,
  operationsIn,
  type Schema,
} from '../contract/document.ts';

export interface SamplePlatform {
  readonly url: string;
  readonly operations: readonly Described[];
  /** Ids of the operations that were called. */
  readonly called: Set<string>;
  close(): Promise<void>;
}

export async function startSamplePlatform(): Promise<SamplePlatform> {
  const [union] = VARIANTS;
  if (union === undefined) throw new Error('There is no union.');
  const operations = operationsIn(JSON.parse(JSON.stringify(openApi(union, ''))) as OpenApiDocument);
  const called = new Set<string>();
  const server = createServer((request, response) => {
    const operation = operationAt(operations, request.method ?? '', (request.url ?? '').split('?', 1)[0] ?? '');
    if (operation === undefined) return void response.writeHead(404).end();
    called.add(idOf(operation));
    const [success] = Object.entries(operation.responses).filter(([status]) => status < '300');
    const kinds = Object.entries(success?.[1].content ?? {});
    const [type = '', media] = kinds.find(([kind]) => kind.includes('json')) ?? kinds[0] ?? [];
    request.resume().on('end', () => {
      response.writeHead(Number(success?.[0] ?? 200), type === '' ? {} : { 'content-type': type });
      response.end(
        type === 'text/plain' ? 'text' : media?.schema === undefined ? '' : JSON.stringify(sampleOf(media.schema)),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    operations,
    called,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A value with every field; the error of a stream's line is none. */
function sampleOf({ type, properties, patternProperties, items }: Schema, name = ''): unknown {
  if (properties !== undefined) {
    return Object.fromEntries(Object.entries(properties).map(([key, field]) => [key, sampleOf(field, key)]));
  }
  const [value] = Object.values(patternProperties ?? {});
  if (value !== undefined) return { sample: sampleOf(value) };
  const [first] = [type].flat();
  if (first === 'array') return items === undefined ? [] : [sampleOf(items)];
  if (first === 'boolean') return true;
  if (first === 'integer' || first === 'number') return 1;
  return first === 'string' && name !== 'Error' ? 'sample' : first === 'null' ? null : '';
}
