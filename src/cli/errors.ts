/** How a command fails: message, what to do next, exit code (1 failure, 2 wrong use). */
import type { CliContext } from './context.ts';
import { paint, printable } from './output.ts';

export class CliError extends Error {
  override readonly name: string = 'CliError';
  readonly hint: string;
  readonly exitCode: number;

  constructor(message: string, hint = '', options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.hint = hint;
    this.exitCode = options.exitCode ?? 1;
  }
}

export class UsageError extends CliError {
  override readonly name = 'UsageError';

  constructor(message: string, hint = '') {
    super(message, hint, { exitCode: 2 });
  }
}

/** Codes that the specification wants answered with 500, though nothing is wrong with the server. */
const OWN_MISTAKES: ReadonlySet<string> = new Set(['service.name_taken', 'manifest.invalid']);

/** Prints what was thrown and gives the exit code. Errors of the server's parts are recognised by their fields. */
export function report(context: CliContext, thrown: unknown): number {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { hint, code, requestId, status } = fieldsOf(error);
  const expected = hint !== null || code !== '';
  const message = printable(error.message.trim() === '' ? error.name : error.message.trim());
  const lines = [`${paint(context.stderr, context.env, 'red', 'Error:')} ${message}`];
  if (hint !== null && hint !== '')
    lines.push(`  ${paint(context.stderr, context.env, 'dim', 'Hint:')} ${printable(hint)}`);
  if (requestId !== '' && (status >= 500 || code === 'internal') && !OWN_MISTAKES.has(code))
    lines.push(`  Request id: ${printable(requestId)}`);
  if (!expected) lines.push('  Hint: This is a fault of the program. TANCHO_DEBUG=1 shows where it happened.');
  if (context.env['TANCHO_DEBUG'] === '1') lines.push(error.stack ?? '', describeCause(error.cause));
  context.stderr.write(`${lines.filter((line) => line !== '').join('\n')}\n`);
  return error instanceof CliError ? error.exitCode : 1;
}

function describeCause(cause: unknown): string {
  return cause instanceof Error ? `Caused by: ${cause.stack ?? cause.message}` : '';
}

function fieldsOf(error: Error): { hint: string | null; code: string; requestId: string; status: number } {
  const fields: Partial<Record<string, unknown>> = { ...error };
  const { hint, code, requestId, status } = fields;
  return {
    hint: typeof hint === 'string' ? hint : null,
    code: typeof code === 'string' ? code : '',
    requestId: typeof requestId === 'string' ? requestId : '',
    status: typeof status === 'number' ? status : 0,
  };
}
