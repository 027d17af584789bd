/** Keeps the router's certificate set equal to what the store has and which challenges are open. Owns when a set is handed over. */
import { type News, NO_NEWS } from '../controls/news.ts';
import type { Peers } from '../controls/peers.ts';
import { bestEffort, type Logger } from '../../lib/logger.ts';
import type { AlpnChallenge, Certificate, CertificateSet, HttpChallenge, Router } from '../routes/router.ts';
import type { Store } from '../store.ts';
import type { Challenge } from './authority.ts';
import { type CertificateRecord, coversAny, isGood } from './certificate.ts';
import { shownNames } from './wanted.ts';

const VERSION = 'certificates.version';

interface PresenterDeps {
  readonly store: Store;
  readonly router: Pick<Router, 'applyCertificates' | 'certificates'>;
  readonly domain: string;
  readonly now: () => Date;
  readonly logger: Logger;
  /** Of other controls, whose edges present the same, and answer the same challenges; absent: there are none. */
  readonly news?: News;
  readonly peers?: Pick<Peers, 'all' | 'on'>;
}

/** A challenge that is to be answered; one with neither is over. */
interface ChallengeChange {
  readonly key: string;
  readonly http?: HttpChallenge;
  readonly alpn?: AlpnChallenge;
}

/** For other controls to answer a challenge, too; who does not is logged. */
const PEERS_MS = 10_000;
/** Characters of certificates and keys that tenants have uploaded: a router takes a set as a whole, up to twice as much, and each of its processes keeps it. */
const MOST_OF_TENANTS = 32 * 1024 * 1024;

export class Presenter {
  readonly #deps: PresenterDeps;
  readonly #http = new Map<string, HttpChallenge>();
  readonly #alpn = new Map<string, AlpnChallenge>();
  #applied = '';
  #presented: (readonly string[])[] = [];
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(deps: PresenterDeps) {
    this.#deps = deps;
  }

  /** Resolves when the router presents what the store had after this call. Calls that arrive meanwhile share the next one. */
  publish(): Promise<void> {
    if (this.#running === null) {
      this.#running = this.#apply().finally(() => {
        this.#running = null;
      });
      return this.#running;
    }
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        return this.publish();
      });
    return this.#next;
  }

  /** Presents what there is, and from now on what other controls change; to be called where there are others. */
  follow(): void {
    const { news = NO_NEWS, peers, logger } = this.#deps;
    const publish = (): Promise<void> =>
      bestEffort(logger, 'presenting the certificates that another control has changed', () => this.publish());
    news.on('certificates', () => void publish());
    peers?.on('challenges', async (subjects) => {
      for (const subject of subjects) this.#take(JSON.parse(subject) as ChallengeChange);
      await this.publish();
    });
    void publish();
  }

  /** Whether the router has been given a certificate for this host name. */
  presents(host: string): boolean {
    return this.#presented.some((names) => coversAny({ names }, host));
  }

  /** Resolves when authorities find the answer; what it resolves to takes it away. */
  async present(challenge: Extract<Challenge, { kind: 'http-01' | 'tls-alpn-01' }>): Promise<() => Promise<void>> {
    const { name } = challenge;
    const key = `${name} ${challenge.kind === 'http-01' ? challenge.token : ''}`;
    const opened: ChallengeChange =
      challenge.kind === 'http-01'
        ? { key, http: { token: challenge.token, answer: challenge.answer, host: name } }
        : { key, alpn: { name, chain: challenge.chain, key: challenge.key } };
    this.#take(opened);
    const sendToPeers = async (change: ChallengeChange): Promise<void> =>
      this.#deps.peers?.all('challenges', [JSON.stringify(change)], PEERS_MS);
    const withdraw = async (): Promise<void> => {
      this.#take({ key });
      await Promise.all([this.publish(), sendToPeers({ key })]);
    };
    try {
      await Promise.all([this.publish(), sendToPeers(opened)]);
    } catch (error) {
      await withdraw().catch(() => undefined);
      throw error;
    }
    return withdraw;
  }

  #take({ key, http, alpn }: ChallengeChange): void {
    this.#http.delete(key);
    this.#alpn.delete(key);
    if (http !== undefined) this.#http.set(key, http);
    if (alpn !== undefined) this.#alpn.set(key, alpn);
  }

  async #apply(): Promise<void> {
    const content = {
      certificates: await this.#certificates(),
      httpChallenges: [...this.#http.values()],
      alpnChallenges: [...this.#alpn.values()],
    };
    const text = JSON.stringify(content);
    if (text === this.#applied) return;
    const version = await this.#nextVersion();
    await this.#deps.router.applyCertificates({ version, ...content });
    this.#applied = text;
    this.#presented = content.certificates.map(({ names }) => names);
    this.#deps.news?.publish('certificates', '');
  }

  async #certificates(): Promise<Certificate[]> {
    const { store, domain, now, logger } = this.#deps;
    const [records, apps] = await Promise.all([store.certificates(), store.apps()]);
    const good = records.filter((record) => record.state !== 'unused' && isGood(record, now()));
    const shown = good.sort(byPrecedence).flatMap((record) => {
      const names = shownNames(record, apps, domain);
      return names.length === 0 ? [] : [{ record, names }];
    });
    const left = new Set(beyondRoom(shown.map(({ record }) => record)));
    for (const { id, app, names } of left)
      logger.error(
        { certificate: id, app, names: names.slice(0, 5) },
        'no room for this certificate; it is not presented',
      );
    return shown
      .filter(({ record }) => !left.has(record))
      .map(({ record: { id, chain, key }, names }) => ({ id, names, chain, key }));
  }

  /** Greater than every one before, whatever the router has seen. */
  async #nextVersion(): Promise<CertificateSet['version']> {
    const { store, router } = this.#deps;
    const { version: known } = await router.certificates();
    return store.transact(async (tx) => {
      const version = Math.max(known, Number((await tx.setting(VERSION)) ?? 0)) + 1;
      await tx.setSetting(VERSION, String(version));
      return version;
    });
  }
}

/** The largest of those that tenants have uploaded, where these are more than a set has room for. */
function beyondRoom(records: readonly CertificateRecord[]): CertificateRecord[] {
  const sizeOf = ({ chain, key }: CertificateRecord): number => chain.length + key.length;
  const tenants = records.filter(({ source, app }) => source === 'upload' && app !== '');
  let excess = tenants.reduce((sum, one) => sum + sizeOf(one), -MOST_OF_TENANTS);
  const left: CertificateRecord[] = [];
  for (const one of tenants.sort((a, b) => sizeOf(b) - sizeOf(a))) {
    if (excess <= 0) break;
    left.push(one);
    excess -= sizeOf(one);
  }
  return left;
}

/** Uploaded ones before others; of those the one that is good for longest. */
function byPrecedence(a: CertificateRecord, b: CertificateRecord): number {
  const rank = ({ source }: CertificateRecord): number => (source === 'upload' ? 0 : 1);
  return rank(a) - rank(b) || (a.notAfter < b.notAfter ? 1 : -1);
}
