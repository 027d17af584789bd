/** Compares every answer that the tests get with the server's own documents, and counts which operations succeeded. */
import { problemsOf } from './conformance.ts';
import { type Described, idOf, type OpenApiDocument, operationAt, operationsIn } from './document.ts';

export type VariantName = 'union' | 'a' | 'b';

export interface Seen {
  readonly method: string;
  /** As it was asked for, with prefix and query. */
  readonly path: string;
  readonly status: number;
  readonly contentType: string;
  readonly code: string | undefined;
  readonly text: string;
  /** Names in lower case. */
  readonly headers: readonly string[];
}

interface Side {
  readonly document: OpenApiDocument;
  readonly operations: readonly Described[];
}

export class Recorder {
  /** What was answered otherwise than documented, each once. */
  readonly problems = new Set<string>();
  answers = 0;
  readonly #sides: Readonly<Record<VariantName, Side>>;
  readonly #succeeded = new Set<string>();

  constructor(documents: Readonly<Record<VariantName, OpenApiDocument>>) {
    const side = (document: OpenApiDocument): Side => ({ document, operations: operationsIn(document) });
    this.#sides = { union: side(documents.union), a: side(documents.a), b: side(documents.b) };
  }

  saw(seen: Seen): void {
    const [path = ''] = seen.path.split('?', 1);
    const variant = /^\/a\//.test(path) ? 'a' : /^\/b\//.test(path) ? 'b' : 'union';
    const bare = variant === 'union' ? path : path.slice(2);
    const { document, operations } = this.#sides[variant];
    const operation =
      operationAt(operations, seen.method, bare) ??
      operationAt(operations, seen.method, bare.replace(/^\/1\.\d+\//, '/1.0/')) ??
      operationAt(operations, seen.method, bare.replace(/^\/1\.\d+\//, '/'));
    if (operation === undefined) {
      const isExpected =
        [400, 404, 405].includes(seen.status) || seen.method === 'HEAD' || /\/openapi\.json$|\/docs/.test(bare);
      if (!isExpected)
        this.problems.add(`${variant} ${seen.method} ${bare}: not documented, and answered ${seen.status}`);
      return;
    }
    // No operation was reached: a part of the path is longer than any name, or leads elsewhere; or the headers are too large.
    if (seen.code?.startsWith('route.') === true || seen.status === 431) return;
    this.answers += 1;
    if (seen.status < 300) this.#succeeded.add(`${variant} ${idOf(operation)}`);
    for (const problem of problemsOf(operation, seen, document.components.schemas)) {
      this.problems.add(`${variant} ${seen.method} ${operation.path} (${seen.status}): ${problem}`);
    }
  }

  operations(variant: VariantName): readonly Described[] {
    return this.#sides[variant].operations;
  }

  hasSucceeded(variant: VariantName, id: string): boolean {
    return this.#succeeded.has(`${variant} ${id}`);
  }
}
