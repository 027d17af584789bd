/**
 * An authority that speaks ACME (RFC 8555), with renewal information (RFC 9773), profiles and external accounts. Owns the protocol;
 * when a certificate is asked for, and which challenges are possible, is the domain's business.
 */
import { type CertificateAuthority, IssueFailure, type RenewalWindow } from '../../../domain/certificates/authority.ts';
import { isRecord } from '../../../lib/is-record.ts';
import { renewalId } from '../../../lib/x509/inspect.ts';
import { type AccountOptions, openAccount } from './account.ts';
import { Connection, type ConnectionOptions, type Signer } from './connection.ts';
import { runOrder } from './order.ts';
import { AccountUnknown } from './problem.ts';

export interface AcmeOptions extends ConnectionOptions, AccountOptions {
  /** '' for the authority's own choice. */
  readonly profile: string;
  readonly pollMs?: number;
}

/** RFC 9773 section 4.3.3: how long an answer stands at the least and at the most. */
const LEAST_ASK_MS = 60 * 60_000;
const MOST_ASK_MS = 24 * 60 * 60_000;
const USUAL_ASK_MS = 6 * 60 * 60_000;

export function createAcmeAuthority(options: AcmeOptions): CertificateAuthority {
  const connection = new Connection(options);
  const { now, profile, pollMs } = options;
  let opening: Promise<Signer> | null = null;

  /** One at a time; a failed one is tried again by the next who needs it. */
  const account = (signal: AbortSignal, unknown: string | null = null): Promise<Signer> => {
    opening ??= openAccount(connection, options, unknown, signal).catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return opening;
  };

  /** Once more with a new account where the authority has forgotten the one there was, as one that was restored or made anew has. */
  const withAccount = async <T>(signal: AbortSignal, work: (signer: Signer) => Promise<T>): Promise<T> => {
    const opened = account(signal);
    try {
      return await work(await opened);
    } catch (error) {
      if (!(error instanceof AccountUnknown)) throw error;
      const { account: unknown } = await opened;
      if (opening === opened) opening = null;
      return work(await account(signal, unknown));
    }
  };

  return {
    name: connection.authority,
    looksAtNames: true,
    // One whose own server only a root of its own vouches for is a private one.
    isPublic: options.roots === null,

    async issue(request) {
      const run = (order: string | null): Promise<string> =>
        withAccount(request.signal, (signer) =>
          runOrder(
            { connection, signer, profile, now, ...(pollMs === undefined ? {} : { pollMs }) },
            { ...request, order },
          ),
        );
      try {
        return await run(request.order);
      } catch (error) {
        // An order of before that is over, or that nobody knows any more, is no reason not to make a new one.
        if (request.order === null || !(error instanceof IssueFailure) || error.goesOn) throw error;
        return run(null);
      }
    },

    async renewalWindow(chain, signal) {
      const { renewalInfo } = await connection.directory(signal);
      const id = renewalId(chain);
      if (renewalInfo === null || id === null) return null;
      const { body, retryAt } = await connection.get(`${renewalInfo.replace(/\/$/, '')}/${id}`, signal);
      return windowOf(body, retryAt, now());
    },

    async persistRecord(domain, wildcard, signal) {
      const [issuer] = (await connection.directory(signal)).caaIdentities;
      if (issuer === undefined) return null;
      const { account: url } = await account(signal);
      const policy = wildcard ? '; policy=wildcard' : '';
      return { record: `_validation-persist.${domain}`, value: `${issuer}; accounturi=${url ?? ''}${policy}` };
    },

    caaNames: async (signal) => (await connection.directory(signal)).caaIdentities,
    root: async () => null,
    close: async () => {},
  };
}

function windowOf(body: unknown, retryAt: Date | null, now: Date): RenewalWindow | null {
  const { suggestedWindow, explanationURL } = isRecord(body) ? body : {};
  const { start, end } = isRecord(suggestedWindow) ? suggestedWindow : {};
  const [from, to] = [Date.parse(String(start)), Date.parse(String(end))];
  if (Number.isNaN(from) || Number.isNaN(to) || to < from) return null;
  const asked = (retryAt?.getTime() ?? now.getTime() + USUAL_ASK_MS) - now.getTime();
  return {
    start: new Date(from),
    end: new Date(to),
    askAgainAt: new Date(now.getTime() + Math.min(Math.max(asked, LEAST_ASK_MS), MOST_ASK_MS)),
    explanation: typeof explanationURL === 'string' && URL.canParse(explanationURL) ? explanationURL : '',
  };
}
