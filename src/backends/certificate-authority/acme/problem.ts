/** What an authority says when it refuses (RFC 8555 section 6.7), and what that means here. */
import { IssueFailure } from '../../../domain/certificates/authority.ts';
import type { Cause } from '../../../domain/certificates/cause.ts';
import { isRecord } from '../../../lib/is-record.ts';

const PREFIX = 'urn:ietf:params:acme:error:';
const LONGEST_WORDS = 600;

export interface AcmeProblem {
  /** Without its prefix: `badNonce`. */
  readonly type: string;
  readonly detail: string;
}

const CAUSE_OF: Readonly<Record<string, Cause>> = {
  accountDoesNotExist: 'account_refused',
  badRevocationReason: 'internal',
  caa: 'caa_forbids',
  connection: 'validation_failed',
  dns: 'validation_failed',
  externalAccountRequired: 'account_refused',
  incorrectResponse: 'validation_failed',
  invalidContact: 'account_refused',
  invalidProfile: 'authority_refuses',
  rateLimited: 'rate_limited',
  rejectedIdentifier: 'authority_refuses',
  serverInternal: 'authority_away',
  tls: 'validation_failed',
  unauthorized: 'validation_failed',
  unsupportedContact: 'account_refused',
  unsupportedIdentifier: 'authority_refuses',
  userActionRequired: 'account_refused',
};

export function problemOf(value: unknown): AcmeProblem {
  const { type, detail, subproblems } = isRecord(value) ? value : {};
  const below: AcmeProblem[] = Array.isArray(subproblems) ? subproblems.slice(0, 10).map(problemOf) : [];
  const words = [typeof detail === 'string' ? detail : '', ...below.map((one) => one.detail)];
  return {
    type: typeof type === 'string' ? type.replace(PREFIX, '') : '',
    detail: printable(words.filter((one) => one !== '').join(' / ')),
  };
}

/** The authority does not know the account, or not any more. */
export class AccountUnknown extends IssueFailure {}

interface Refusal {
  readonly problem: AcmeProblem;
  readonly status: number;
  readonly retryAt: Date | null;
  readonly authority: string;
}

/** `wanted`: in place of the cause that the type would mean. */
export function failureOf({ problem, status, retryAt, authority }: Refusal, wanted?: Cause): IssueFailure {
  const byStatus: Cause = status === 429 ? 'rate_limited' : status >= 500 ? 'authority_away' : 'authority_refuses';
  const said =
    problem.detail === '' ? `status ${status}${problem.type === '' ? '' : ` (${problem.type})`}` : problem.detail;
  const code = wanted ?? CAUSE_OF[problem.type] ?? byStatus;
  const Kind = problem.type === 'accountDoesNotExist' ? AccountUnknown : IssueFailure;
  return new Kind(code, `${authority} says: ${said}`, { retryAt, goesOn: code === 'authority_away' });
}

/** Text of somebody else, as it may be shown and stored. */
function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').slice(0, LONGEST_WORDS);
}
