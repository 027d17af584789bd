/** Looks at names before an authority is asked, so that a failure that can be seen from here costs no attempt. */
import { randomHex } from '../../lib/ids.ts';
import { type CertificateAuthority, type ChallengeKind, IssueFailure, type PersistRecord } from './authority.ts';
import { caaProblem, judge, type Judgement, type SeenAddress } from './judgement.ts';
import type { CaaRecord, LookupResult, NameLookup } from './name-lookup.ts';
import type { Presenter } from './presenter.ts';

interface NameLooksDeps {
  readonly lookup: NameLookup;
  readonly presenter: Pick<Presenter, 'present'>;
  /** Where names are to lead. */
  readonly publicAddress: () => string;
  /** False: names are not looked at, and the authority alone judges. */
  readonly enabled: boolean;
}

/** So many addresses of one name are asked. */
const MAX_ADDRESSES = 8;

export class NameLooks {
  readonly #deps: NameLooksDeps;

  constructor(deps: NameLooksDeps) {
    this.#deps = deps;
  }

  /** Of the wanted challenges those that can succeed. Throws IssueFailure when the authority need not be asked. */
  async forIssuance(
    names: readonly string[],
    authority: CertificateAuthority,
    wanted: readonly ChallengeKind[],
    signal: AbortSignal,
  ): Promise<ChallengeKind[]> {
    if (!authority.looksAtNames || !this.#deps.enabled) return [...wanted];
    let possible = [...wanted];
    for (const name of names) {
      const { cause, problem, challenges } = await this.judgementOf(name, authority, wanted, signal);
      if (cause !== null) throw new IssueFailure(cause, problem);
      possible = possible.filter((kind) => challenges.includes(kind));
    }
    return possible;
  }

  /** Whether it leads here at every address it has: it answers what only this platform knows. */
  async answersHere(name: string): Promise<boolean> {
    const addresses = await this.#deps.lookup.addresses(name);
    if (addresses.kind !== 'found') return false;
    const { seen, expected } = await this.#seenOf(name, [...addresses.value.ipv4, ...addresses.value.ipv6]);
    return seen.length > 0 && seen.every(({ answer }) => answer.kind === 'answered' && answer.body.trim() === expected);
  }

  async judgementOf(
    name: string,
    authority: CertificateAuthority,
    wanted: readonly ChallengeKind[],
    signal: AbortSignal,
  ): Promise<Judgement> {
    const caaNames = await authority.caaNames(signal);
    if (name.startsWith('*.')) return this.#ofWildcard(name.slice(2), authority, wanted, caaNames, signal);
    const { lookup } = this.#deps;
    const [addresses, caa] = await Promise.all([lookup.addresses(name), this.#caa(name)]);
    const found = addresses.kind === 'found' ? [...addresses.value.ipv4, ...addresses.value.ipv6] : [];
    const { seen, expected } = await this.#seenOf(name, found);
    const reachesItself = found.some((address) => lookup.ownAddresses().includes(address));
    const authorityIsPublic = authority.isPublic;
    return judge({ name, addresses, caa, seen, expected, caaNames, authorityIsPublic, reachesItself });
  }

  /** Shows a challenge of our own for the name, and asks each address for it. */
  async #seenOf(name: string, found: readonly string[]): Promise<{ seen: SeenAddress[]; expected: string }> {
    const token = `look-${randomHex(32)}`;
    const expected = randomHex(32);
    if (found.length === 0) return { seen: [], expected };
    const withdraw = await this.#deps.presenter.present({ kind: 'http-01', name, token, answer: expected });
    try {
      const path = `/.well-known/acme-challenge/${token}`;
      const ours = this.#ours();
      const asked = found.slice(0, MAX_ADDRESSES);
      const seen = await Promise.all(
        asked.map((address) => this.#see(address, ours.has(address), name, path, expected)),
      );
      return { seen, expected };
    } finally {
      await withdraw();
    }
  }

  async #see(address: string, isOurs: boolean, name: string, path: string, expected: string): Promise<SeenAddress> {
    const { lookup } = this.#deps;
    const answer = await lookup.ask(address, name, path);
    const isRight = answer.kind === 'answered' && answer.body.trim() === expected;
    return { address, isOurs, answer, takesTls: !isRight && isOurs && (await lookup.takesTls(address)) };
  }

  #ours(): Set<string> {
    return new Set([this.#deps.publicAddress(), ...this.#deps.lookup.ownAddresses()]);
  }

  async #ofWildcard(
    domain: string,
    authority: CertificateAuthority,
    wanted: readonly ChallengeKind[],
    caaNames: readonly string[],
    signal: AbortSignal,
  ): Promise<Judgement> {
    const caa = await this.#caa(domain);
    const forbidden = caaProblem({ name: domain, caa, caaNames }, true);
    if (forbidden !== null) return forbidden;
    if (wanted.includes('dns-01')) return { cause: null, problem: '', challenges: ['dns-01'] };
    const record = await authority.persistRecord(domain, true, signal);
    if (record === null) {
      const problem = `*.${domain} can only be proven by DNS, and ${authority.name} knows no records that stay.`;
      return { cause: 'wildcard_needs_dns', problem, challenges: [] };
    }
    return this.#persistJudgement(record);
  }

  async #persistJudgement({ record, value }: PersistRecord): Promise<Judgement> {
    const found = await this.#deps.lookup.txt(record);
    if (found.kind === 'failed') {
      return { cause: 'dns_failed', problem: `The name servers of ${record} fail: ${found.why}.`, challenges: [] };
    }
    const normal = (text: string): string => text.replace(/\s+/g, '').toLowerCase();
    if (found.kind === 'found' && found.value.some((text) => normal(text) === normal(value))) {
      return { cause: null, problem: '', challenges: ['dns-persist-01'] };
    }
    const what = found.kind === 'found' ? 'has another value' : 'is not there';
    return {
      cause: 'persist_record_missing',
      problem: `The TXT record ${record} ${what}; it has to be: ${value}`,
      challenges: [],
    };
  }

  /** RFC 8659 section 3: of the name, or the nearest one above it that has any. */
  async #caa(name: string): Promise<LookupResult<readonly CaaRecord[]>> {
    for (let labels = name.split('.'); labels.length > 0; labels = labels.slice(1)) {
      const found = await this.#deps.lookup.caa(labels.join('.'));
      if (found.kind !== 'none') return found;
    }
    return { kind: 'none' };
  }
}
