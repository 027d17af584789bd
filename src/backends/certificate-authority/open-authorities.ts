/** Which authorities are asked, in order. The ACME client is loaded only where one of those is. */
import type { CertificateAuthority } from '../../domain/certificates/authority.ts';
import type { Identities } from '../../domain/certificates/authority-identity.ts';
import { createAddressGuard } from '../../lib/guarded/address-guard.ts';
import { createLocalAuthority } from './local/local-authority.ts';

interface ExternalAccount {
  readonly kid: string;
  /** base64url. */
  readonly secret: string;
}

interface AcmeDirectory {
  readonly directory: string;
  readonly external: ExternalAccount | null;
}

interface AuthoritiesOptions {
  readonly kind: 'acme' | 'local' | 'none';
  readonly domain: string;
  /** Of ACME authorities, the first one first. */
  readonly directories: readonly AcmeDirectory[];
  readonly email: string;
  readonly profile: string;
  /** PEM; null: those that everybody trusts. */
  readonly roots: string | null;
  readonly userAgent: string;
  readonly ownPorts: () => readonly number[];
  readonly identities: Identities;
  readonly now: () => Date;
}

export async function openAuthorities(options: AuthoritiesOptions): Promise<readonly CertificateAuthority[]> {
  const { kind, domain, directories, identities, now } = options;
  if (kind === 'none') return [];
  if (kind === 'local') return [createLocalAuthority({ domain, identities, now })];
  const { createAcmeAuthority } = await import('./acme/acme-authority.ts');
  // The operator has named the directories, so they may be at private addresses.
  const allow = directories.map(({ directory }) => new URL(directory).hostname.replace(/^\[(.*)\]$/, '$1'));
  const guard = createAddressGuard({ allow, allowLoopback: false, ownPorts: options.ownPorts });
  const { email, roots, userAgent, profile } = options;
  return directories.map(({ directory, external }, at) =>
    createAcmeAuthority({
      ...{ directory, external, guard, email, userAgent, identities, now },
      // Profiles and roots are those of the first one: others have names and roots of their own.
      ...(at === 0 ? { profile, roots } : { profile: '', roots: null }),
    }),
  );
}
