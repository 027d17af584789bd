/** A server's own OpenAPI document, as far as the tests read it; types and finding operations in it. */

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
}

export type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly schema: Schema;
}

export interface DocumentedResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, object>>;
  readonly content?: Content;
}

export interface Described {
  /** In capitals. */
  readonly method: string;
  /** Without the prefix of the variant; placeholders as `{name}`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
  readonly 'x-access': string;
  readonly 'x-errors': readonly string[];
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Omit<Described, 'method' | 'path'>>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export function operationsIn(document: OpenApiDocument): Described[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
}

/** The operation's id without what distinguishes its variants. */
export function idOf({ operationId }: Described): string {
  return operationId.split('-', 1)[0] ?? '';
}

/** The operation that answers a path; a literal part goes before a placeholder. */
export function operationAt(operations: readonly Described[], method: string, path: string): Described | undefined {
  const parts = path.replace(/\/$/, '').split('/');
  const placeholders = (text: string): string => text.replace(/\{\w+\}/g, '\uffff');
  return operations
    .filter((one) => one.method === method && matches(one.path.split('/'), parts))
    .sort((one, other) => (placeholders(one.path) < placeholders(other.path) ? -1 : 1))[0];
}

function matches(pattern: readonly string[], parts: readonly string[]): boolean {
  return (
    pattern.length === parts.length &&
    pattern.every((part, index) => (part.startsWith('{') ? parts[index] !== '' : part === parts[index]))
  );
}

/** Equal for paths that differ only in how their placeholders are called. */
export function outlineOf(path: string): string {
  return path.replace(/\{\w+\}/g, '{}');
}
