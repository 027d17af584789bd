/** Output of containers, as the kubelet keeps it. */
import { KubernetesError, UNREACHABLE } from './kubernetes-error.ts';
import { linesOf } from './lines.ts';
import { hasBrokenOff } from './multiplexed.ts';
import type { Transport } from './transport.ts';

type Open = Transport['streamOfMany'];

/** Longer lines come in several. */
const MAX_LINE_BYTES = 256 * 1024;

export interface LogOptions {
  readonly container: string;
  /** Goes on until the container ends. */
  readonly follow?: boolean;
  /** The container before the last restart. */
  readonly isPrevious?: boolean;
  /** RFC 3339; the API forgets the fraction of the second, so lines from before may come. */
  readonly since?: string;
  /** The last ones only. */
  readonly lines?: number;
  readonly maxBytes?: number;
}

export interface LogLine {
  /** RFC 3339 in UTC, up to nanoseconds, always with nine digits, so that it sorts; '' of what goes on with a line that was too long. */
  readonly at: string;
  readonly text: string;
}

const STAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) /;

export async function* readLog(
  open: Open,
  pod: string,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  const { container, follow = false, isPrevious = false, since, lines, maxBytes } = options;
  const query = {
    container,
    timestamps: 'true',
    follow: follow ? 'true' : undefined,
    previous: isPrevious ? 'true' : undefined,
    sinceTime: since?.replace(/\.\d+/, ''),
    tailLines: lines?.toString(),
    limitBytes: maxBytes?.toString(),
  };
  const response = await open({ method: 'GET', path: `${pod}/log`, query, signal });
  try {
    for await (const line of linesOf(response, MAX_LINE_BYTES)) yield stamped(line.toString('utf8'));
    if (hasBrokenOff(response)) throw new Error('the connection was lost');
  } catch (error) {
    if (error instanceof KubernetesError) throw error;
    throw new KubernetesError(0, UNREACHABLE, `The output of a container broke off: ${String(error)}`, {
      cause: error,
    });
  } finally {
    response.on('error', () => {});
    response.destroy();
  }
}

function stamped(line: string): LogLine {
  const found = STAMP.exec(line);
  if (found === null) return { at: '', text: line };
  const [whole, second = '', fraction = '', zone = 'Z'] = found;
  const utc = zone === 'Z' ? second : new Date(`${second}${zone}`).toISOString().slice(0, 19);
  return { at: `${utc}.${fraction.padEnd(9, '0')}Z`, text: line.slice(whole.length) };
}
