/** Keeps the router's certificate set equal to what the store has and which challenges are open. Owns when a set is handed over. */
import { type News, NO_NEWS } from '../controls/news.ts';
import type { Peers } from '../controls/peers.ts';
import { bestEffort, type Logger } from '../../lib/logger.ts';
import type { AlpnChallenge, Certificate, CertificateSet, HttpChallenge, Router } from '../routes/router.ts';
import type { Store } from '../store.ts';
import type { Challenge } from './authority.ts';
import { coversAny } from './certificate.ts';
import { PresentableCertificates } from './presentable.ts';

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

export class Presenter {
  readonly #deps: PresenterDeps;
  readonly #http = new Map<string, HttpChallenge>();
  readonly #alpn = new Map<string, AlpnChallenge>();
  readonly #presentable: PresentableCertificates;
  /** As it was read last; the store may have others where `isStale`. */
  #certificates: readonly Certificate[] = [];
  #isStale = true;
  #applied: { readonly certificates: readonly Certificate[]; readonly challenges: string } | null = null;
  #appliedIds: ReadonlySet<string> = new Set();
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(deps: PresenterDeps) {
    this.#deps = deps;
    this.#presentable = new PresentableCertificates(deps);
  }

  /** Resolves when the router presents what the store had after this call. Calls that arrive meanwhile share the next one. */
  publish(): Promise<void> {
    this.#isStale = true;
    return this.#handOver();
  }

  #handOver(): Promise<void> {
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
        return this.#handOver();
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
      await this.#handOver();
    });
    void publish();
  }

  /** Whether the router has been given a certificate for this host name. */
  presents(host: string): boolean {
    return this.#applied?.certificates.some((one) => coversAny(one, host)) ?? false;
  }

  /** Whether the router has been given the certificate of this record. */
  presentsCertificate(id: string): boolean {
    return this.#appliedIds.has(id);
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
      await Promise.all([this.#handOver(), sendToPeers({ key })]);
    };
    try {
      await Promise.all([this.#handOver(), sendToPeers(opened)]);
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
    if (this.#isStale) await this.#read();
    const certificates = this.#certificates;
    const open = { httpChallenges: [...this.#http.values()], alpnChallenges: [...this.#alpn.values()] };
    const challenges = JSON.stringify(open);
    const areNew = certificates !== this.#applied?.certificates;
    if (!areNew && challenges === this.#applied?.challenges) return;
    const version = await this.#nextVersion();
    await this.#deps.router.applyCertificates({ version, certificates, ...open });
    this.#applied = { certificates, challenges };
    if (areNew) this.#appliedIds = new Set(certificates.map(({ id }) => id));
    // Of challenges other controls are told one by one.
    if (areNew) this.#deps.news?.publish('certificates', '');
  }

  async #read(): Promise<void> {
    this.#isStale = false;
    try {
      this.#certificates = await this.#presentable.read();
    } catch (error) {
      this.#isStale = true;
      throw error;
    }
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
