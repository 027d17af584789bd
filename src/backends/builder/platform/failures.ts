/** What went wrong in a build, in the words of the contract. */
import { Failure } from '../../../domain/failure.ts';
import { isDiskFull } from '../../../domain/errors.ts';
import type { BuildOutput } from './steps/output.ts';
import type { Ended } from './steps/run-step.ts';

const NO_SPACE = /ENOSPC|no space left on device|disk quota exceeded/i;

const REPORT = /^(?:error|fatal): (\S.{0,200})$/i;
/** The line of Maven that says which of its steps failed, and why; what it names more follows it. */
const MAVEN = /^\[ERROR\] (Failed to execute goal \S.{0,200})/;

/** Why the build was ended from outside. */
export type BuildInterruption = 'cancelled' | 'timeout' | null;

export function stepFailure(
  step: string,
  ended: Ended,
  output: Pick<BuildOutput, 'tail' | 'advice' | 'cause'>,
  memoryBytes: number,
): Failure {
  const lines = [...output.tail];
  if (lines.some((line) => NO_SPACE.test(line))) return diskFull(lines);
  if (ended.outOfMemory) {
    const limit = memoryBytes > 0 ? ` (builds here may use ${Math.round(memoryBytes / 1024 / 1024)} MiB)` : '';
    return new Failure(
      'build_failed',
      `The step "${step}" was killed because it needed more memory than there is${limit}.`,
      {
        hint: 'Make the build need less memory, or ask the operator for more builds.memory.',
        lines,
      },
    );
  }
  const how = ended.signal === null ? `failed with exit code ${ended.code}` : `was ended by the signal ${ended.signal}`;
  const cause = output.cause ?? (output.advice === null ? reported(lines) : null);
  const why = cause === null ? '' : `: ${cause}`;
  return new Failure('build_failed', `The step "${step}" ${how}${why}.`, {
    hint: output.advice ?? 'What it printed says why; correct the code, commit and push again.',
    lines,
  });
}

/** What it reports last as its error, in the form that most tools have; null where there is none. */
function reported(lines: readonly string[]): string | null {
  const found = lines
    .map((line) => (REPORT.exec(line) ?? MAVEN.exec(line))?.[1])
    .findLast((text) => text !== undefined);
  return found?.replace(/\.$/, '') ?? null;
}

/** Turns anything thrown by a build into the Failure it is; errors of the platform itself stay what they are. */
export function asFailure(
  thrown: unknown,
  stopped: BuildInterruption,
  lines: readonly string[],
  timeoutMs: number,
): unknown {
  if (stopped === 'cancelled') return new Failure('cancelled', 'The build was cancelled.', { lines });
  if (stopped === 'timeout') {
    return new Failure(
      'timeout',
      `The build took longer than ${Math.round(timeoutMs / 1000)} seconds and was stopped.`,
      {
        hint: 'Make the build quicker, or ask the operator for a longer builds.timeout.',
        lines,
      },
    );
  }
  return isDiskFull(thrown) ? diskFull(lines) : thrown;
}

function diskFull(lines: readonly string[]): Failure {
  return new Failure('disk_full', 'The disk is full.', {
    hint: 'Ask the operator to free space on the server, then push again.',
    lines,
  });
}
