/** Keeps the router's certificate set equal to what the store has and which challenges are open. Owns when a set is handed over. */
import type { AlpnChallenge, Certificate, CertificateSet, HttpChallenge, Router } from '../routes/router.ts';
import type { Store } from '../store.ts';
import type { Challenge } from './authority.ts';
import { type CertificateRecord, coversAny, isGood } from './certificate.ts';
import { hostsOf } from './wanted.ts';

const VERSION = 'certificates.version';

interface PresenterDeps {
  readonly store: Store;
  readonly router: Pick<Router, 'applyCertificates' | 'certificates'>;
  readonly domain: string;
  readonly now: () => Date;
}

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

  /** Whether the router has been given a certificate for this host name. */
  presents(host: string): boolean {
    return this.#presented.some((names) => coversAny({ names }, host));
  }

  /** Resolves when authorities find the answer; what it resolves to takes it away. */
  async present(challenge: Extract<Challenge, { kind: 'http-01' | 'tls-alpn-01' }>): Promise<() => Promise<void>> {
    const { name } = challenge;
    const key = `${name} ${challenge.kind === 'http-01' ? challenge.token : ''}`;
    if (challenge.kind === 'http-01')
      this.#http.set(key, { token: challenge.token, answer: challenge.answer, host: name });
    else this.#alpn.set(key, { name, chain: challenge.chain, key: challenge.key });
    const withdraw = (): Promise<void> => {
      (challenge.kind === 'http-01' ? this.#http : this.#alpn).delete(key);
      return this.publish();
    };
    try {
      await this.publish();
    } catch (error) {
      await withdraw().catch(() => undefined);
      throw error;
    }
    return withdraw;
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
  }

  async #certificates(): Promise<Certificate[]> {
    const { store, domain, now } = this.#deps;
    const [records, apps] = await Promise.all([store.certificates(), store.apps()]);
    const good = records.filter((record) => record.state !== 'unused' && isGood(record, now()));
    return good.sort(byPrecedence).flatMap((record) => {
      const { id, chain, key } = record;
      // An app's own certificate says what it likes: it is shown for the names that the app has.
      const hosts = hostsOf(
        apps.filter(({ name }) => name === record.app),
        domain,
      ).map(({ name }) => name);
      const isOwn = record.source === 'upload' && record.app !== '';
      const names = isOwn ? hosts.filter((host) => coversAny(record, host)) : record.names;
      return names.length === 0 ? [] : [{ id, names, chain, key }];
    });
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

/** Uploaded ones before others; of those the one that is good for longest. */
function byPrecedence(a: CertificateRecord, b: CertificateRecord): number {
  const rank = ({ source }: CertificateRecord): number => (source === 'upload' ? 0 : 1);
  return rank(a) - rank(b) || (a.notAfter < b.notAfter ? 1 : -1);
}
