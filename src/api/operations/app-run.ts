/** Commands run beside an app's units (specification 4.1, /run). */
import { Type } from '../schema.ts';
import { PlatformError } from '../../domain/errors.ts';
import { FORM, parseJson, type RawBody, readFlag } from '../body.ts';
import { type Operation, output } from '../operation.ts';
import { appParams, queryText } from './fields.ts';

export const appRunOperations: readonly Operation[] = [
  output({
    id: 'apps.run',
    section: '4.1',
    summary: 'Run a command with the code and environment of an app.',
    method: 'POST',
    path: '/apps/:app/run',
    access: 'user',
    params: appParams,
    query: Type.Object({ once: queryText }),
    rawBody: { mediaType: 'text/plain', schema: Type.String() },
    errors: [
      'app.not_found',
      'access.denied',
      'app.not_deployed',
      'cancelled',
      'run.command_required',
      'run.failed',
      'unsupported',
    ],
    handle: ({ useCases, caller, signal }, { params, query, body }, write) => {
      const { command, once } = readRun(body, query.once);
      return useCases.run.run(caller, params.app, { command, once, output: write, signal });
    },
  }),
];

/** The body is the command itself; later clients send a form or JSON with `command` and `once`. */
function readRun(body: RawBody, queryOnce: string | undefined): { command: string; once: boolean } {
  const fields = runFields(body);
  const command = fields?.get('command') ?? body.text;
  if (typeof command !== 'string' || command.trim() === '') {
    throw new PlatformError('run.command_required', 'You must provide the command to run', {
      hint: 'Send the command as the body of the request.',
    });
  }
  return { command, once: readFlag('once', queryOnce ?? fields?.get('once')) };
}

function runFields(body: RawBody): Map<string, unknown> | null {
  if (body.mediaType === FORM && /^(?:[\w.]+=[^&]*&)*command=/.test(body.text)) {
    return new Map(new URLSearchParams(body.text));
  }
  // A command that begins like JSON is one, unless it is labelled; and so is a bare word, however it is labelled.
  if (body.mediaType !== 'application/json' || !/^\s*[[{"]/.test(body.text)) return null;
  const value = parseJson(body);
  return new Map(Object.entries(typeof value === 'string' ? { command: value } : (value ?? {})));
}
