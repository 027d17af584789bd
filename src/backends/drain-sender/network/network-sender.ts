/** Lines to receivers in the network: syslog, and three formats over HTTP, at checked addresses only. */
import { hostname } from 'node:os';
import type { DrainTarget } from '../../../domain/drains/drain.ts';
import { DeliveryFailure, type DrainSender } from '../../../domain/drains/drain-sender.ts';
import type { LogEntry } from '../../../domain/logs/entry.ts';
import { withDeadline } from '../../../lib/deadline.ts';
import {
  type AddressGuard,
  ForbiddenAddress,
  type ResolvedAddress,
  UnknownHost,
} from '../../../lib/guarded/address-guard.ts';

export interface NetworkSenderOptions {
  readonly guard: AddressGuard;
  /** Of one attempt. */
  readonly timeoutMs?: number;
  /** PEM of roots that receivers are trusted by, in place of those that everybody trusts. */
  readonly roots?: string;
}

const TIMEOUT_MS = 30_000;

export function createNetworkSender({ guard, timeoutMs = TIMEOUT_MS, roots }: NetworkSenderOptions): DrainSender {
  const trusted = roots === undefined ? {} : { roots };
  return {
    send: (target, entries, signal) =>
      withDeadline(timeoutMs, signal, async (limited) => {
        if (target.format === 'syslog') return toSyslog(guard, target, trusted, entries, limited);
        // Few platforms have drains: loaded with the first line of one.
        const [{ MESSAGES }, { sendHttp }] = await Promise.all([import('./message.ts'), import('./send-http.ts')]);
        const message = MESSAGES[target.format](entries);
        return sendHttp(guard, { url: target.url, headers: target.headers, ...trusted }, message, limited);
      }),
  };
}

async function toSyslog(
  guard: AddressGuard,
  { url }: DrainTarget,
  trusted: { readonly roots?: string },
  entries: readonly LogEntry[],
  signal: AbortSignal,
): Promise<string> {
  const { sendSyslog } = await import('./send-syslog.ts');
  const { syslogFrames } = await import('./syslog-frames.ts');
  const { protocol, hostname: host, port } = new URL(url);
  const bare = host.replace(/^\[(.*)\]$/s, '$1');
  const target = { host: bare, port: Number(port), isTls: protocol === 'syslog+tls:', ...trusted };
  const addresses = await checkedAddresses(guard, host, port);
  return sendSyslog({ ...target, addresses }, syslogFrames(entries, hostname()), signal);
}

/** The rules are about hosts and ports, whatever is spoken there. */
async function checkedAddresses(guard: AddressGuard, host: string, port: string): Promise<readonly ResolvedAddress[]> {
  try {
    return await guard.check(new URL(`http://${host}:${port}`));
  } catch (error) {
    if (error instanceof ForbiddenAddress || error instanceof UnknownHost) {
      throw new DeliveryFailure('later', error.message, { cause: error });
    }
    throw new DeliveryFailure('later', 'The name of the receiver cannot be resolved.', { cause: error });
  }
}
