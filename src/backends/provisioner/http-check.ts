/** One health check request, judged. */
import type { HealthCheck } from '../../domain/apps/app.ts';
import type { Probe, ProbeResult } from '../../domain/units/provisioner.ts';
import type { Address } from '../../domain/units/unit.ts';
import { withDeadline } from '../../lib/deadline.ts';
import { request } from '../../lib/node-http.ts';
import type { Verdict } from './pattern-match.ts';

const MAX_BODY_BYTES = 64 * 1024;

/**
 * `unreachable`: no complete answer, worth another try; `wrong`: an answer other than the expected one; `unjudged`: the
 * machine was too busy to look at it; `hopeless`: the pattern takes too long to try it again.
 */
type CheckResult =
  | { readonly kind: 'ok' }
  | { readonly kind: 'unreachable' | 'wrong' | 'unjudged' | 'hopeless'; readonly detail: string };

export async function checkOnce(address: Address, check: HealthCheck, options: RequestLimits): Promise<CheckResult> {
  let answer: CheckAnswer;
  try {
    answer = await withDeadline(options.timeoutMs, options.signal, (signal) => ask(address, check, signal));
  } catch (error) {
    return { kind: 'unreachable', detail: whyNoAnswer(error, options) };
  }
  // With a pattern and no status, the pattern alone decides.
  if (check.maxStatus !== undefined && answer.status > check.maxStatus) {
    return { kind: 'wrong', detail: `it answered ${answer.status}` };
  }
  const status = check.status ?? (check.match === undefined && check.maxStatus === undefined ? 200 : null);
  if (status !== null && answer.status !== status) {
    return { kind: 'wrong', detail: `it answered ${answer.status} instead of ${status}` };
  }
  const match = check.match === undefined ? 'yes' : await matchOf(check.match, answer.body, options);
  if (match === 'hopeless') return { kind: 'hopeless', detail: `the pattern ${check.match} takes too long` };
  if (match === 'unjudged') return { kind: 'unjudged', detail: 'the server was too busy to look at its answer' };
  if (match === 'yes') return { kind: 'ok' };
  return { kind: 'wrong', detail: `the body of its answer (status ${answer.status}) does not match ${check.match}` };
}

async function matchOf(pattern: string, body: string, asking: RequestLimits): Promise<Verdict> {
  const { judge } = await import('./pattern-judge.ts');
  return judge({ pattern, body }, asking);
}

/** Of a unit that serves. */
export async function probeHttp(
  probe: Probe & { readonly kind: 'http' },
  app: string,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const { address, healthCheck, timeoutMs } = probe;
  const result = await checkOnce(address, healthCheck, { app, timeoutMs, signal });
  if (result.kind === 'ok') return { kind: 'well' };
  // A pattern that takes too long says nothing of the unit.
  if (signal.aborted || result.kind === 'hopeless' || result.kind === 'unjudged') return { kind: 'unknown' };
  const method = (healthCheck.method ?? 'GET').toUpperCase();
  return { kind: 'unwell', detail: `${method} ${healthCheck.path ?? '/'}: ${result.detail}` };
}

function whyNoAnswer(error: unknown, { signal, timeoutMs }: RequestLimits): string {
  const { name, code, message } = error as NodeJS.ErrnoException;
  if (name === 'AbortError' && !signal.aborted)
    return `no answer came within ${Math.ceil(timeoutMs / 100) / 10} seconds`;
  if (code === 'ECONNRESET') return 'it closed the connection without an answer';
  return message;
}

interface RequestLimits {
  /** Whose unit it is. */
  readonly app: string;
  /** Of the request. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

interface CheckAnswer {
  readonly status: number;
  readonly body: string;
}

async function ask(address: Address, check: HealthCheck, signal: AbortSignal): Promise<CheckAnswer> {
  const path = check.path ?? '/';
  return new Promise((resolve, reject) => {
    const outgoing = request({
      ...address,
      path: path.startsWith('/') ? path : `/${path}`,
      method: (check.method ?? 'GET').toUpperCase(),
      headers: { 'user-agent': 'tancho-health-check', connection: 'close' },
      agent: false,
      signal,
    });
    outgoing.once('error', reject);
    outgoing.once('response', (response) => {
      const status = response.statusCode ?? 0;
      const parts: Buffer[] = [];
      let size = 0;
      const finish = (): void => resolve({ status, body: Buffer.concat(parts).toString('utf8') });
      response.on('data', (bytes: Buffer) => {
        parts.push(bytes);
        size += bytes.length;
        if (size < MAX_BODY_BYTES) return;
        finish();
        outgoing.destroy();
      });
      response.once('end', finish);
      response.once('error', reject);
    });
    outgoing.end();
  });
}
