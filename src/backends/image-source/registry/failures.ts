/** What can go wrong between a registry and a slug, in the words of the contract. */
import { Failure } from '../../../domain/failure.ts';
import { RequestFailure } from '../../../lib/guarded/guarded-request.ts';
import { isUntrustedCertificate } from '../../../lib/untrusted-certificate.ts';

const UNREACHED =
  'This is no fault of the code. Try again in a few minutes; if it stays like this, ask the operator to let the server reach that registry.';

/** The registry does not give it. */
export function notPulled(why: string, hint = 'Try again; if it stays like this, ask who runs the registry.'): Failure {
  return new Failure('pull_failed', `The image cannot be pulled: ${why}`, { hint });
}

/** The registry that artifacts are pushed to does not take it. */
export function notPushed(
  why: string,
  hint = 'Try again; if it stays like this, ask the operator to look at the registry.',
): Failure {
  return new Failure('push_failed', `The image cannot be pushed: ${why}`, { hint });
}

/** It was given, but is nothing that can run here. */
export function unfit(why: string, hint = 'Build the image anew and push it again.'): Failure {
  return new Failure('invalid_source', `The image cannot be used: ${why}`, { hint });
}

/** Why a pull was ended from outside. */
export type TransferInterruption = 'cancelled' | 'timeout' | null;

/** Anything thrown by a pull as the Failure it is; errors of the platform itself stay what they are. */
export function asFailure(
  thrown: unknown,
  stopped: TransferInterruption,
  timeoutMs: number,
  what: 'pull' | 'push' = 'pull',
): unknown {
  if (stopped === 'cancelled') return new Failure('cancelled', `The ${what} was cancelled.`);
  if (stopped === 'timeout') {
    return new Failure(
      'timeout',
      `The ${what} took longer than ${Math.round(timeoutMs / 1000)} seconds and was stopped.`,
      {
        hint: 'Make the image smaller, or ask the operator for a longer builds.timeout.',
      },
    );
  }
  if (thrown instanceof RequestFailure) {
    const failure = what === 'pull' ? notPulled : notPushed;
    if (!isUntrustedCertificate(thrown.cause)) {
      const hint = thrown.code === 'unreachable' ? [UNREACHED] : [];
      return failure(`${thrown.message.replace(/\.$/, '')}.`, ...hint);
    }
    const [host = ''] = thrown.message.split(': ');
    return failure(
      `the certificate of ${host} is signed by nobody that this server trusts.`,
      'Ask the operator to name a file with its root in the setting "images.roots".',
    );
  }
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return thrown;
  return new Failure('disk_full', 'The disk is full.', { hint: 'Ask the operator to free space on the server.' });
}
