/** A certificate as it is kept: what is presented, and how far the next one has come. Rules only. */
import type { Cause } from './cause.ts';

export const CERTIFICATE_STATES = ['waiting', 'ordering', 'issued', 'failed', 'unused'] as const;

/**
 * `waiting`: asked for when its turn comes; `ordering`: an order is under way, or was when the platform stopped; `issued`: nothing to do until
 * its renewal; `failed`: the last attempt failed, and the next one is due at `nextAttemptAt`; `unused`: no name needs it any more.
 */
export type CertificateState = (typeof CERTIFICATE_STATES)[number];

export interface CertificateRecord {
  readonly id: string;
  /** Sorted; of an uploaded one those that it says. */
  readonly names: readonly string[];
  readonly source: 'authority' | 'upload';
  /** Whose names these are; '' for those of the platform. */
  readonly app: string;
  readonly state: CertificateState;
  /** Of the last attempt; null when it did not fail. */
  readonly cause: Cause | null;
  /** The cause in words, one sentence; '' for none. */
  readonly problem: string;
  /** In a row. */
  readonly failures: number;
  /** ISO 8601 UTC, as all times here; null: not planned. */
  readonly nextAttemptAt: string | null;
  /** What is presented, PEM; '' when there is none yet. Stays until the next one is there. */
  readonly chain: string;
  /** PEM; sealed in the store. */
  readonly key: string;
  /** Of `chain`, as the two that follow; '' without one. */
  readonly issuer: string;
  readonly notBefore: string;
  readonly notAfter: string;
  /** When the renewal window is asked for again; null: it is not. */
  readonly askAgainAt: string | null;
  /** Name of the authority that the order under way is at; '' for none. */
  readonly authority: string;
  /** '' for none. */
  readonly orderUrl: string;
  /** PEM: of the certificate that is being ordered; sealed in the store. '' for none. */
  readonly pendingKey: string;
  readonly createdAt: string;
}

/** Keys are opened for whoever presents them. */
export type KeylessCertificate = Omit<CertificateRecord, 'key' | 'pendingKey'>;

/** As most look at it: the chains of thousands are many megabytes. */
export type CertificateSummary = Omit<KeylessCertificate, 'chain'>;

export function newRecord(id: string, names: readonly string[], app: string, now: Date): CertificateRecord {
  const at = now.toISOString();
  return {
    id,
    names: [...names].sort(),
    source: 'authority',
    app,
    state: 'waiting',
    cause: null,
    problem: '',
    failures: 0,
    nextAttemptAt: at,
    chain: '',
    key: '',
    issuer: '',
    notBefore: '',
    notAfter: '',
    askAgainAt: null,
    authority: '',
    orderUrl: '',
    pendingKey: '',
    createdAt: at,
  };
}

/** Whether it can be presented at this time. */
export function isGood({ notAfter }: Pick<CertificateRecord, 'notAfter'>, now: Date): boolean {
  return Date.parse(notAfter) > now.getTime();
}

/** A wildcard is for one label. Both in lower case. */
function covers(pattern: string, host: string): boolean {
  return (
    pattern === host || (pattern.startsWith('*.') && !host.startsWith('*.') && host.replace(/^[^.]+/, '*') === pattern)
  );
}

export function coversAny({ names }: Pick<CertificateRecord, 'names'>, host: string): boolean {
  return names.some((name) => covers(name, host));
}
