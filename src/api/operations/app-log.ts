/** The log of an app (specification 4.1 and 8). */
import { Type } from '../schema.ts';
import { PlatformError } from '../../domain/errors.ts';
import { entries, type Operation } from '../operation.ts';
import { readFlag } from '../body.ts';
import { appParams, queryText } from './fields.ts';

export const appLogOperations: readonly Operation[] = [
  entries({
    id: 'apps.log',
    section: '4.1',
    summary: 'Show the last entries of the log, and with follow=1 every new one as it comes.',
    method: 'GET',
    path: '/apps/:app/log',
    access: 'token',
    params: appParams,
    query: Type.Object({ lines: queryText, source: queryText, unit: queryText, follow: queryText }),
    shape: 'logEntries',
    errors: ['app.not_found', 'access.denied', 'log.lines_required'],
    handle: async ({ useCases, caller, signal }, { params, query }) => {
      const filter = {
        lines: readLines(query.lines),
        ...(query.source && { source: query.source }),
        ...(query.unit && { unit: query.unit }),
      };
      return readFlag('follow', query.follow)
        ? useCases.logs.follow(caller, params.app, filter, signal)
        : useCases.logs.query(caller, params.app, filter);
    },
  }),
];

function readLines(lines: string | undefined): number {
  if (lines === undefined || lines === '') {
    throw new PlatformError('log.lines_required', 'Parameter "lines" is mandatory.', {
      hint: 'Add lines=<number of entries>, e.g. lines=100.',
    });
  }
  const number = Number(lines);
  if (!/^\d+$/.test(lines) || !Number.isSafeInteger(number)) {
    throw new PlatformError('input.invalid', 'Parameter "lines" must be an integer.', {
      hint: 'Use a whole number; 0 asks for all that are kept.',
    });
  }
  return number;
}
