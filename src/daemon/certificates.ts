/** Wires certificates: which authorities are asked and what of the world outside is looked at, by the configuration. */
import { readFile } from 'node:fs/promises';
import { openAuthorities } from '../backends/certificate-authority/open-authorities.ts';
import { createDnsCommand } from '../backends/dns-records/command/dns-command.ts';
import { createDnsLookup } from '../backends/name-lookup/dns/dns-lookup.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Act } from '../domain/act.ts';
import type { CertificateAuthority } from '../domain/certificates/authority.ts';
import { type Certificates, createCertificates } from '../domain/certificates/certificates.ts';
import type { DnsRecords } from '../domain/certificates/dns-records.ts';
import { HostNameProof } from '../domain/certificates/host-name-proof.ts';
import { storedIdentities } from '../domain/certificates/identities.ts';
import { Issuance } from '../domain/certificates/issuance.ts';
import { isPrivateName } from '../domain/certificates/judgement.ts';
import { NameLooks } from '../domain/certificates/name-looks.ts';
import type { NameLookup } from '../domain/certificates/name-lookup.ts';
import { NewOrders } from '../domain/certificates/new-orders.ts';
import { Presenter } from '../domain/certificates/presenter.ts';
import type { News } from '../domain/controls/news.ts';
import type { Peers } from '../domain/controls/peers.ts';
import { CertificateUpkeep } from '../domain/certificates/upkeep.ts';
import type { Router } from '../domain/routes/router.ts';
import type { Settings } from '../domain/settings.ts';
import type { Store } from '../domain/store.ts';
import { createAddressGuard } from '../lib/guarded/address-guard.ts';
import type { Logger } from '../lib/logger.ts';

/** What certificates need of the world outside. */
export interface CertificateBackends {
  /** Empty: none is asked. */
  readonly authorities: readonly CertificateAuthority[];
  readonly lookup: NameLookup;
  readonly dns: DnsRecords | null;
  /** One certificate for all names below the domain. */
  readonly wildcard: boolean;
  /** Proven by a DNS record that the operator leaves in place. */
  readonly persists: boolean;
  /** See NewOrders. */
  readonly newCertificatesPerUser: number;
  /** Names are looked at before an authority is asked. */
  readonly looks: boolean;
  readonly proofRequired: boolean;
}

interface OpenOptions {
  readonly store: Store;
  readonly ownPorts: () => readonly number[];
  readonly version: string;
}

export async function openCertificates(config: Config, options: OpenOptions): Promise<CertificateBackends> {
  const { domain, acmeDnsCommand: argv, acmeDnsPersist: persists, hostNameProof } = config;
  const { store, ownPorts, version } = options;
  const isReal = !isPrivateName(domain);
  const auto = isReal ? 'acme' : 'local';
  const kind = config.certificateAuthority === 'auto' ? auto : config.certificateAuthority;
  const authorities = await openAuthorities({
    ...{ kind, domain, ownPorts },
    directories: directoriesOf(config),
    email: config.acmeEmail,
    profile: config.acmeProfile,
    roots: config.acmeRoots === null ? null : await rootsIn(config.acmeRoots),
    userAgent: `tancho/${version}`,
    identities: storedIdentities(store),
    now: () => new Date(),
  });
  const guard = createAddressGuard({ allow: [], allowLoopback: false, ownPorts });
  // Clients take no wildcard below a single label.
  const localWildcard = domain.includes('.');
  return {
    authorities,
    lookup: createDnsLookup({ servers: config.dnsServers, guard }),
    dns: argv === null ? null : createDnsCommand({ argv }),
    wildcard: kind === 'local' ? localWildcard : argv !== null || persists,
    persists: persists && argv === null,
    newCertificatesPerUser: config.acmeNewCertificatesPerUser,
    looks: config.certificateLook,
    proofRequired: hostNameProof === 'required' || (hostNameProof === 'auto' && isReal),
  };
}

function directoriesOf(config: Config) {
  const { acmeDirectory, acmeFallbackDirectory, acmeExternalAccount, acmeFallbackExternalAccount } = config;
  const first = { directory: acmeDirectory, external: acmeExternalAccount };
  if (acmeFallbackDirectory === null) return [first];
  return [first, { directory: acmeFallbackDirectory, external: acmeFallbackExternalAccount }];
}

async function rootsIn(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new ConfigError(`acme.roots: ${file} cannot be read (${code}).`, 'Correct the path, or remove it.', error);
  }
}

interface CertificateParts {
  readonly useCases: Certificates;
  readonly presenter: Presenter;
  readonly upkeep: CertificateUpkeep;
  readonly proof: HostNameProof;
}

interface PartsDeps {
  readonly store: Store;
  readonly router: Router;
  readonly act: Act;
  readonly settings: Settings;
  readonly logger: Logger;
  readonly now: () => Date;
  readonly news: News;
  readonly peers: Peers;
}

/** `backends` null: nothing is issued and nothing looked at; what is uploaded is presented. */
export function createCertificateParts(backends: CertificateBackends | null, deps: PartsDeps): CertificateParts {
  const { store, router, act, settings, logger, now } = deps;
  const { domain, publicAddress } = settings;
  const outside = backends ?? NOTHING_OUTSIDE;
  const { lookup, dns, wildcard, persists } = outside;
  // Without a listener for TLS nobody would see what is issued.
  const authorities = router.tlsListen === null ? [] : outside.authorities;
  const presenter = new Presenter({ store, router, domain, now, logger, news: deps.news, peers: deps.peers });
  const looks = new NameLooks({ lookup, presenter, publicAddress, enabled: outside.looks });
  const common = { store, presenter, authorities, logger, now, chance: Math.random };
  const newOrders = new NewOrders({ store, domain, mostPerWeek: outside.newCertificatesPerUser, now });
  const issuance = new Issuance({ ...common, looks, newOrders, dns });
  const upkeep = new CertificateUpkeep({ ...common, issuance, domain, ownNames: [settings.apiDomain], wildcard });
  const proof = new HostNameProof({ lookup, looks, domain, publicAddress, required: outside.proofRequired });
  const useCases = createCertificates({
    ...{ store, act, authorities, issuance, upkeep, looks, presenter },
    ...{ speaksTls: router.tlsListen !== null, domain, wildcard, persists, publicAddress, now },
  });
  return { useCases, presenter, upkeep, proof };
}

const NOTHING_OUTSIDE: CertificateBackends = {
  authorities: [],
  lookup: {
    addresses: async () => ({ kind: 'none' }),
    caa: async () => ({ kind: 'none' }),
    txt: async () => ({ kind: 'none' }),
    ask: async () => ({ kind: 'unreachable', why: 'is not asked' }),
    takesTls: async () => false,
    ownAddresses: () => [],
  },
  dns: null,
  wildcard: false,
  persists: false,
  newCertificatesPerUser: 0,
  looks: false,
  proofRequired: false,
};
