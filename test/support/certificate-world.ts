/** Certificates without a network: the domain's parts on a real store, with an authority, a router and names that a test decides. */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmptyStore } from './empty-databases.ts';
import { app, populate } from '../../src/backends/store/testing/records.ts';
import { type CertificateAuthority, type IssueRequest, IssueFailure } from '../../src/domain/certificates/authority.ts';
import type { DnsRecords } from '../../src/domain/certificates/dns-records.ts';
import { Issuance } from '../../src/domain/certificates/issuance.ts';
import { NameLooks } from '../../src/domain/certificates/name-looks.ts';
import type { NameLookup } from '../../src/domain/certificates/name-lookup.ts';
import { NewOrders } from '../../src/domain/certificates/new-orders.ts';
import { Presenter } from '../../src/domain/certificates/presenter.ts';
import { CertificateUpkeep } from '../../src/domain/certificates/upkeep.ts';
import type { CertificateSet } from '../../src/domain/routes/router.ts';
import type { Store } from '../../src/domain/store.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { makeLeaf, makeRoot } from '../../src/lib/x509/certificate.ts';
import { newKey } from '../../src/lib/x509/names.ts';

export const DAY_MS = 86_400_000;
export const HOUR_MS = 3_600_000;
export const OUR_ADDRESS = '203.0.113.5';

/** Orders and certificates outlive a crash of who asked for them, as at a real authority. */
export class MemoryAuthority {
  readonly orders = new Map<string, { readonly names: readonly string[]; readonly key: string }>();
  issued = 0;
  lifeMs = 45 * DAY_MS;
  /** Thrown in place of a certificate. */
  fault: (request: IssueRequest) => IssueFailure | null = () => null;
  suggests: { start: Date; end: Date } | null = null;
  readonly #rootKey = newKey();
  readonly #root: string;
  readonly #now: () => Date;
  readonly #name: string;

  constructor(now: () => Date, name = 'ca.test') {
    this.#now = now;
    this.#name = name;
    const validity = { notBefore: new Date(0), notAfter: new Date(now().getTime() + 3650 * DAY_MS) };
    this.#root = makeRoot('Test root', this.#rootKey, validity);
  }

  authority(more: Partial<CertificateAuthority> = {}): CertificateAuthority {
    return {
      name: this.#name,
      looksAtNames: true,
      isPublic: true,
      issue: (request) => this.#issue(request),
      renewalWindow: async () =>
        this.suggests && {
          ...this.suggests,
          askAgainAt: new Date(this.#now().getTime() + 6 * HOUR_MS),
          explanation: '',
        },
      persistRecord: async (domain) => ({
        record: `_validation-persist.${domain}`,
        value: 'ca.test; accounturi=https://ca.test/1',
      }),
      caaNames: async () => ['ca.test'],
      root: async () => null,
      close: async () => {},
      ...more,
    };
  }

  async #issue(request: IssueRequest): Promise<string> {
    const fault = this.fault(request);
    if (fault !== null) throw fault;
    const known = request.order === null ? undefined : this.orders.get(request.order);
    if (known === undefined || known.key !== request.key) {
      const url = `https://${this.#name}/order/${this.orders.size + 1}`;
      this.orders.set(url, { names: request.names, key: request.key });
      await request.onOrder(url);
    }
    for (const name of request.names.filter((one) => !one.startsWith('*.'))) {
      const withdraw = await request.present({
        kind: 'http-01',
        name,
        token: `token-${name}`,
        answer: `answer-${name}`,
      });
      await withdraw();
    }
    this.issued += 1;
    const now = this.#now().getTime();
    const validity = { notBefore: new Date(now - HOUR_MS), notAfter: new Date(now + this.lifeMs) };
    const publicKey = createPublicKey(createPrivateKey(request.key));
    return makeLeaf({ certificate: this.#root, key: this.#rootKey }, request.names, publicKey, validity) + this.#root;
  }
}

/** Every name leads here and is answered by our own challenges. */
export function goodLookup(sets: () => CertificateSet): NameLookup {
  return {
    addresses: async () => ({ kind: 'found', value: { ipv4: [OUR_ADDRESS], ipv6: [] } }),
    caa: async () => ({ kind: 'none' }),
    txt: async () => ({ kind: 'none' }),
    async ask(_address, host, path) {
      const found = sets().httpChallenges.find((one) => one.host === host && path.endsWith(`/${one.token}`));
      return { kind: 'answered', status: 200, body: found?.answer ?? '', server: '' };
    },
    takesTls: async () => true,
    ownAddresses: () => [OUR_ADDRESS],
  };
}

export interface CertificateWorld {
  readonly store: Store;
  readonly authority: MemoryAuthority;
  readonly presenter: Presenter;
  readonly issuance: Issuance;
  readonly upkeep: CertificateUpkeep;
  readonly looks: NameLooks;
  readonly set: () => CertificateSet;
  readonly now: () => Date;
  /** Whether the router takes what it is to present; it does at the beginning. */
  routerTakes(sets: boolean): void;
  pass(ms: number): void;
  addApps(...names: readonly string[]): Promise<void>;
  /** As a new control process finds things. */
  again(options?: WorldOptions): CertificateWorld;
  dispose(): Promise<void>;
}

export interface WorldOptions {
  readonly domain?: string;
  readonly wildcard?: boolean;
  readonly lookup?: (good: NameLookup) => NameLookup;
  readonly dns?: DnsRecords | null;
  readonly authorities?: (first: MemoryAuthority) => readonly CertificateAuthority[];
  readonly look?: boolean;
  readonly newCertificatesPerUser?: number;
  readonly store?: (store: Store) => Store;
}

export async function certificateWorld(options: WorldOptions = {}): Promise<CertificateWorld> {
  const directory = await mkdtemp(join(tmpdir(), 'tancho-certificates-'));
  const store = await openEmptyStore(directory);
  await populate(store);
  let at = Date.parse('2026-11-25T00:00:00Z');
  const now = (): Date => new Date(at);
  const authority = new MemoryAuthority(now);
  let last: CertificateSet = { version: 0, certificates: [], httpChallenges: [], alpnChallenges: [] };
  let takesSets = true;
  const router = {
    async applyCertificates(set: CertificateSet): Promise<void> {
      if (!takesSets) throw new Error('the router takes no certificates');
      last = set.version > last.version ? set : last;
    },
    certificates: async () => ({ version: last.version, ids: last.certificates.map(({ id }) => id), unusable: [] }),
  };
  const wire = (wanted: WorldOptions): CertificateWorld => {
    const { domain = 'apps.example.com', wildcard = true, dns = null } = wanted;
    const used = wanted.store?.(store) ?? store;
    const presenter = new Presenter({ store: used, router, domain, now, logger: SILENT });
    const good = goodLookup(() => last);
    const lookup = wanted.lookup?.(good) ?? good;
    const looks = new NameLooks({ lookup, presenter, publicAddress: () => OUR_ADDRESS, enabled: wanted.look ?? true });
    const authorities = wanted.authorities?.(authority) ?? [authority.authority()];
    const parts = { store: used, presenter, authorities, logger: SILENT, now, chance: Math.random };
    const mostPerWeek = wanted.newCertificatesPerUser ?? 0;
    const newOrders = new NewOrders({ store: used, domain, mostPerWeek, now });
    const issuance = new Issuance({ ...parts, looks, newOrders, dns });
    const upkeep = new CertificateUpkeep({ ...parts, issuance, domain, ownNames: [], wildcard });
    return {
      ...{ store: used, authority, presenter, issuance, upkeep, looks, now, set: () => last },
      routerTakes: (sets) => void (takesSets = sets),
      pass: (ms) => void (at += ms),
      addApps: (...names) =>
        store.transact(async (tx) => {
          for (const name of names) await tx.insertApp(app(name));
        }),
      again: (more = {}) => wire({ ...wanted, ...more }),
      async dispose() {
        await upkeep.close();
        await store.close();
        await rm(directory, { recursive: true });
      },
    };
  };
  return wire(options);
}
