/** What Kubernetes has refused, in words of the platform. */
import { AccessProblem } from '../../../kubernetes/access.ts';
import { KubernetesError } from '../../../kubernetes/kubernetes-error.ts';
import { PlatformError, Unreached } from '../../../domain/errors.ts';
import { Failure } from '../../../domain/failure.ts';

const BUSY = 429;

/** Does the work; what the API server throws comes as PlatformError or Failure. */
export async function translated<T>(engine: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw inPlatformWords(engine, error);
  }
}

function inPlatformWords(engine: string, error: unknown): unknown {
  if (error instanceof AccessProblem) {
    return new PlatformError('unavailable', `The engine ${engine}: ${error.message}`, {
      hint: error.hint,
      cause: error,
    });
  }
  if (!(error instanceof KubernetesError)) return error;
  const { status, message } = error;
  if (status === 0 || status === BUSY || status >= 500) {
    return new Unreached('unavailable', `The engine ${engine} is not reached: ${message}`, {
      hint: 'Ask an operator whether the API server of the cluster answers; what runs there goes on meanwhile.',
      cause: error,
    });
  }
  if (status === 401 || status === 403) {
    return new PlatformError('unavailable', `The engine ${engine} may not do that in its cluster: ${message}`, {
      hint: 'Ask an operator to give its login the rights that docs/engines.md names.',
      cause: error,
    });
  }
  return new Failure('internal', `The engine ${engine} was refused: ${message}`, {
    hint: 'Ask an operator what the cluster asks of pods in its namespace.',
  });
}
