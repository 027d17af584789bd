import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { CertificateSet, CertificatesInForce } from '../../domain/routes/router.ts';
import { HostMap } from '../../lib/host-map.ts';

/** A certificate and its key, as TLS servers take them; the same object for as long as neither changes. */
export interface Identity {
  /** PEM. */
  readonly chain: string;
  readonly key: string;
}

/** A set of certificates, and what session tickets are sealed with while it is in force (base64). */
export interface Presented {
  readonly set: CertificateSet;
  readonly ticketKeys: string;
}

export const NO_CERTIFICATES: CertificateSet = {
  version: 0,
  certificates: [],
  httpChallenges: [],
  alpnChallenges: [],
};

const CHALLENGE_PATH = '/.well-known/acme-challenge/';
/** Certificates are looked at for so long before requests have their turn. */
const SLICE_MS = 10;

/** A whole set made ready for look-ups; never changed once made. */
export class LiveCertificates {
  static readonly none = new LiveCertificates(NO_CERTIFICATES);
  readonly version: number;
  readonly #set: CertificateSet;
  readonly #byName = new HostMap<Identity>();
  /** Of those that have been looked at: the certificate's text, then the key's. */
  readonly #looked = new Map<string, Looked>();
  readonly #challenges = new Map<string, Identity>();
  readonly #answers = new Map<string, string>();
  readonly #unusable: { id: string; problem: string }[] = [];

  private constructor(set: CertificateSet) {
    this.version = set.version;
    this.#set = set;
  }

  /** Looks at every certificate that `before` has not; other work goes on meanwhile. */
  static async of(set: CertificateSet, before: LiveCertificates): Promise<LiveCertificates> {
    const made = new LiveCertificates(set);
    let since = performance.now();
    const identity = async (pair: Identity): Promise<Looked> => {
      if (performance.now() - since > SLICE_MS) {
        await new Promise((resolve) => setImmediate(resolve));
        since = performance.now();
      }
      return made.#look(pair, before);
    };
    for (const certificate of set.certificates) {
      const looked = await identity(certificate);
      if (typeof looked === 'string') made.#unusable.push({ id: certificate.id, problem: looked });
      else for (const name of certificate.names) made.#byName.add(name, looked);
    }
    for (const challenge of set.alpnChallenges) {
      const looked = await identity(challenge);
      if (typeof looked !== 'string') made.#challenges.set(challenge.name, looked);
    }
    for (const { host, token, answer } of set.httpChallenges) made.#answers.set(`${host} ${token}`, answer);
    return made;
  }

  get state(): CertificatesInForce {
    const unusable = new Set(this.#unusable.map(({ id }) => id));
    const ids = this.#set.certificates.map(({ id }) => id).filter((id) => !unusable.has(id));
    return { version: this.version, ids, unusable: this.#unusable };
  }

  /** `name`: lower case. */
  match(name: string): Identity | null {
    return this.#byName.get(name);
  }

  /** For an authority that offers nothing but `acme-tls/1`. */
  matchChallenge(name: string): Identity | null {
    return this.#challenges.get(name) ?? null;
  }

  /** What an authority that asks for this target is answered; null for everything that is no challenge of the set. */
  challengeAnswer(host: string, target: string): string | null {
    if (this.#answers.size === 0 || !target.startsWith(CHALLENGE_PATH)) return null;
    return this.#answers.get(`${host} ${target.slice(CHALLENGE_PATH.length)}`) ?? null;
  }

  #look({ chain, key }: Identity, before: LiveCertificates): Looked {
    const name = `${chain}\n${key}`;
    const looked = this.#looked.get(name) ?? before.#looked.get(name) ?? problemOf(chain, key) ?? { chain, key };
    this.#looked.set(name, looked);
    return looked;
  }
}

/** Or why it cannot be presented. */
type Looked = Identity | string;

function problemOf(chain: string, key: string): string | null {
  try {
    const certificate = new X509Certificate(chain);
    return certificate.checkPrivateKey(createPrivateKey(key)) ? null : 'The key is that of another certificate.';
  } catch (error) {
    return `The certificate or its key cannot be read: ${error instanceof Error ? error.message : String(error)}.`;
  }
}
