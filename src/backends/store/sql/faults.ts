/** The border of this backend: what a database throws becomes the PlatformErrors that the contract names. */
import { PlatformError } from '../../../domain/errors.ts';
import { SealError } from '../../../lib/seal.ts';
import { DatabaseRefused, isSqliteFull, sqlFault } from '../../../sql/sql-error.ts';

/** Runs `write`; a reference to a row that is not there becomes `error`. */
export async function needing<T>(error: () => PlatformError, write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (thrown) {
    if (sqlFault(thrown) === 'foreign_key') throw error();
    throw thrown;
  }
}

export function translated(thrown: unknown, where: string): unknown {
  if (thrown instanceof PlatformError) return thrown;
  if (thrown instanceof SealError) {
    return new PlatformError('unavailable', thrown.message, {
      hint: 'Restore the key file that belongs to this database.',
      cause: thrown,
    });
  }
  if (thrown instanceof DatabaseRefused) return new PlatformError('unavailable', thrown.message, { cause: thrown });
  if (isSqliteFull(thrown)) {
    return new PlatformError('unavailable', `The disk of the database ${where} is full.`, {
      hint: 'Ask the operator to make room, then try again.',
      // As the system reports it.
      cause: Object.assign(new Error('no room', { cause: thrown }), { code: 'ENOSPC' }),
    });
  }
  const fault = sqlFault(thrown);
  if (fault === 'unreachable') {
    return new PlatformError('unavailable', `The database ${where} cannot be used at the moment.`, {
      hint: 'Check that it is running and reachable, that its disk has room, then try again.',
      cause: thrown,
    });
  }
  if (fault === 'retry') {
    return new PlatformError('unavailable', 'Too many changes happened at the same time.', {
      hint: 'Try again in a moment.',
      cause: thrown,
    });
  }
  if (fault === 'unstorable') {
    return new PlatformError('input.invalid', 'The text has a NUL character, which cannot be stored.', {
      hint: 'Remove the NUL character and try again.',
      cause: thrown,
    });
  }
  return thrown;
}

export function appNotFound(name: string): PlatformError {
  return new PlatformError('app.not_found', `App ${name} not found.`, { hint: 'List the apps to see their names.' });
}

export function userNotFound(email: string): PlatformError {
  return new PlatformError('user.not_found', `User ${email} not found.`);
}

export function teamNotFound(name: string): PlatformError {
  return new PlatformError('team.not_found', `Team ${name} not found.`);
}

export function teamsNotFound(names: readonly string[]): PlatformError {
  return new PlatformError('team.not_found', `One of the teams ${names.join(', ')} is not there.`);
}

export function deployNotFound(id: string): PlatformError {
  return new PlatformError('deploy.not_found', `Deploy ${id} not found.`);
}

export function serviceNotFound(): PlatformError {
  return new PlatformError('service.not_found', 'Service not found', { hint: 'List the services to see their names.' });
}
