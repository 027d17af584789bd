/** The ways into an authority (RFC 8555 section 7.1.1). */
import { IssueFailure } from '../../../domain/certificates/authority.ts';
import { isRecord } from '../../../lib/is-record.ts';

export interface Directory {
  readonly newNonce: string;
  readonly newAccount: string;
  readonly newOrder: string;
  /** RFC 9773; null where there is none. */
  readonly renewalInfo: string | null;
  readonly externalAccountRequired: boolean;
  readonly caaIdentities: readonly string[];
  readonly profiles: readonly string[];
}

export function directoryOf(value: unknown, authority: string): Directory {
  const fields = isRecord(value) ? value : {};
  const meta = isRecord(fields['meta']) ? fields['meta'] : {};
  const url = (name: string): string => {
    const found = fields[name];
    if (typeof found === 'string' && URL.canParse(found)) return found;
    throw new IssueFailure('authority_away', `What ${authority} answers is no directory of an ACME authority.`);
  };
  const { caaIdentities, profiles } = meta;
  const renewalInfo = fields['renewalInfo'];
  return {
    newNonce: url('newNonce'),
    newAccount: url('newAccount'),
    newOrder: url('newOrder'),
    renewalInfo: typeof renewalInfo === 'string' && URL.canParse(renewalInfo) ? renewalInfo : null,
    externalAccountRequired: meta['externalAccountRequired'] === true,
    caaIdentities: Array.isArray(caaIdentities) ? caaIdentities.filter((one) => typeof one === 'string') : [],
    profiles: isRecord(profiles) ? Object.keys(profiles) : [],
  };
}
