/**
 * An authority of our own, for names that no public one issues for: `localhost` and private domains. Its root is made once, kept with its
 * key sealed in the store, and good for names below the platform's domain only: whoever trusts it trusts it for nothing else.
 */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { type CertificateAuthority, IssueFailure } from '../../../domain/certificates/authority.ts';
import type { AuthorityIdentity, Identities } from '../../../domain/certificates/authority-identity.ts';
import { makeLeaf, makeRoot } from '../../../lib/x509/certificate.ts';
import { newKey } from '../../../lib/x509/names.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ROOT_DAYS = 3650;
const LEAF_DAYS = 90;

interface LocalAuthorityOptions {
  readonly domain: string;
  readonly identities: Identities;
  readonly now: () => Date;
}

export function createLocalAuthority({ domain, identities, now }: LocalAuthorityOptions): CertificateAuthority {
  const name = 'local';
  // The root says for which domain it is good, so another domain has another one.
  const kept = `${name}:${domain}`;

  async function root(): Promise<AuthorityIdentity> {
    const known = await identities.identity(kept);
    if (known !== null) return known;
    const key = newKey();
    const at = now().getTime();
    const validity = { notBefore: new Date(at - HOUR_MS), notAfter: new Date(at + ROOT_DAYS * DAY_MS) };
    const account = makeRoot(`Tancho local authority for ${domain}`, key, { ...validity, permitted: [domain] });
    return identities.keepIdentity({ authority: kept, key, account });
  }

  return {
    name,
    looksAtNames: false,
    isPublic: false,

    async issue({ names, key }) {
      const outside = names.find((one) => one !== domain && !one.endsWith(`.${domain}`));
      if (outside !== undefined) {
        throw new IssueFailure(
          'authority_refuses',
          `The local authority issues for names below ${domain} only, not ${outside}.`,
        );
      }
      const signer = await root();
      const at = now().getTime();
      const validity = { notBefore: new Date(at - HOUR_MS), notAfter: new Date(at + LEAF_DAYS * DAY_MS) };
      const publicKey = createPublicKey(createPrivateKey(key));
      return makeLeaf({ certificate: signer.account, key: signer.key }, names, publicKey, validity) + signer.account;
    },

    renewalWindow: async () => null,
    persistRecord: async () => null,
    caaNames: async () => [],
    root: async () => (await root()).account,
    close: async () => {},
  };
}
