/** Orders and authorizations as an authority sends them; what is missing is empty. */
import { isRecord } from '../../../lib/is-record.ts';

export interface Order {
  readonly status: string;
  readonly authorizations: readonly string[];
  readonly finalize: string;
  readonly certificate: string;
  readonly error: unknown;
}

export interface OfferedChallenge {
  readonly type: string;
  readonly url: string;
  readonly token: string;
  readonly status: string;
  readonly error: unknown;
}

export interface Authorization {
  readonly status: string;
  /** Without `*.`. */
  readonly name: string;
  readonly wildcard: boolean;
  readonly challenges: readonly OfferedChallenge[];
}

export function orderOf(value: unknown): Order {
  const fields = isRecord(value) ? value : {};
  const { authorizations, error } = fields;
  return {
    status: text(fields['status']),
    authorizations: Array.isArray(authorizations) ? authorizations.filter((one) => typeof one === 'string') : [],
    finalize: text(fields['finalize']),
    certificate: text(fields['certificate']),
    error,
  };
}

export function authorizationOf(value: unknown): Authorization {
  const fields = isRecord(value) ? value : {};
  const { identifier, challenges } = fields;
  return {
    status: text(fields['status']),
    name: isRecord(identifier) ? text(identifier['value']) : '',
    wildcard: fields['wildcard'] === true,
    challenges: Array.isArray(challenges) ? challenges.filter(isRecord).map(challengeOf) : [],
  };
}

function challengeOf(fields: Readonly<Record<string, unknown>>): OfferedChallenge {
  return {
    type: text(fields['type']),
    url: text(fields['url']),
    token: text(fields['token']),
    status: text(fields['status']),
    error: fields['error'],
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
