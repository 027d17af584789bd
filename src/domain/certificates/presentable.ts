/** Which certificates clients are to be shown, with their keys. Opens a key once, and keeps it for as long as its certificate is shown. */
import type { Logger } from '../../lib/logger.ts';
import type { Certificate } from '../routes/router.ts';
import type { Store } from '../store.ts';
import { type CertificateRecord, isGood, type KeylessCertificate } from './certificate.ts';
import { shownNames } from './wanted.ts';

interface PresentableDeps {
  readonly store: Pick<Store, 'apps' | 'certificates' | 'certificatesWithoutKeys'>;
  readonly domain: string;
  readonly now: () => Date;
  readonly logger: Logger;
  /** Absent: as below. */
  readonly room?: Room;
}

/** Characters of certificates as JSON. */
interface Room {
  /** Of those that tenants have uploaded. */
  readonly tenants: number;
  /** Of all: an edge takes a set in one message, of at most 64 Mi (edge/control/control-server.ts), and each of its processes keeps it. */
  readonly all: number;
}

interface Presentable {
  readonly record: KeylessCertificate;
  /** The same object for as long as nothing in it changes. */
  readonly certificate: Certificate;
  readonly size: number;
}

const ROOM: Room = { tenants: 32 * 1024 * 1024, all: 60 * 1024 * 1024 };

export class PresentableCertificates {
  readonly #deps: PresentableDeps;
  /** By the id of the record. */
  #kept: ReadonlyMap<string, Presentable> = new Map();
  #certificates: readonly Certificate[] = [];
  /** Ids of those for which there is no room, as they were reported. */
  #left = '';

  constructor(deps: PresentableDeps) {
    this.#deps = deps;
  }

  /** In order of precedence. The same array as before where nothing has changed. */
  async read(): Promise<readonly Certificate[]> {
    const { store, domain, now, room = ROOM } = this.#deps;
    const [records, apps] = await Promise.all([store.certificatesWithoutKeys(), store.apps()]);
    const good = records.filter((record) => record.state !== 'unused' && isGood(record, now())).sort(byPrecedence);
    const shown = good.flatMap((record) => {
      const names = shownNames(record, apps, domain);
      return names.length === 0 ? [] : [{ record, names }];
    });
    const opened = await this.#opened(shown.map(({ record }) => record));
    const all = shown.flatMap(({ record, names }) => {
      const pair = opened.get(record.id);
      return pair === undefined ? [] : [this.#presentable(record, names, pair)];
    });
    this.#kept = new Map(all.map((one) => [one.record.id, one]));
    const left = beyondRoom(all, room);
    this.#report([...left]);
    const certificates = all.flatMap((one) => (left.has(one) ? [] : [one.certificate]));
    const isSame =
      certificates.length === this.#certificates.length &&
      certificates.every((one, at) => one === this.#certificates[at]);
    if (!isSame) this.#certificates = certificates;
    return this.#certificates;
  }

  /** Certificates with their keys, by id. A certificate has one key, so what is kept of the same one is right. */
  async #opened(
    records: readonly KeylessCertificate[],
  ): Promise<ReadonlyMap<string, Pick<CertificateRecord, 'chain' | 'key'>>> {
    const [known, missing] = [new Map<string, Certificate>(), [] as string[]];
    for (const { id, chain } of records) {
      const kept = this.#kept.get(id)?.certificate;
      if (kept?.chain === chain) known.set(id, kept);
      else missing.push(id);
    }
    const fresh = (await this.#deps.store.certificates(missing)).map((one) => [one.id, one] as const);
    return new Map([...known, ...fresh]);
  }

  #presentable(
    record: KeylessCertificate,
    names: readonly string[],
    { chain, key }: Pick<CertificateRecord, 'chain' | 'key'>,
  ): Presentable {
    const kept = this.#kept.get(record.id);
    const isSame = kept?.certificate.chain === chain && kept.certificate.names.join() === names.join();
    if (isSame) return { ...kept, record };
    const certificate = { id: record.id, names, chain, key };
    return { record, certificate, size: JSON.stringify(certificate).length };
  }

  #report(left: readonly Presentable[]): void {
    const ids = left.map(({ record }) => record.id).join();
    if (ids === this.#left) return;
    this.#left = ids;
    if (left.length === 0) return;
    const first = left.slice(0, 5).map(({ record: { id, app, names } }) => ({ id, app, names: names.slice(0, 5) }));
    const fields = { certificates: left.length, first };
    this.#deps.logger.error(fields, 'no room for some certificates; they are not presented');
  }
}

/** The largest of those that tenants have uploaded, where these are too many; then of apps, and at last of the platform, those that came last. */
function beyondRoom(all: readonly Presentable[], room: Room): ReadonlySet<Presentable> {
  const tenants = all.filter(({ record: { source, app } }) => source === 'upload' && app !== '');
  const left = new Set(
    excess(
      tenants.sort((a, b) => b.size - a.size),
      room.tenants,
    ),
  );
  const others = all.filter((one) => !left.has(one));
  const isOfPlatform = ({ record: { app } }: Presentable): boolean => app === '';
  const leastFirst = others.sort(
    (a, b) => Number(isOfPlatform(a)) - Number(isOfPlatform(b)) || latestFirst(a.record.createdAt, b.record.createdAt),
  );
  return new Set([...left, ...excess(leastFirst, room.all)]);
}

/** So many of the first ones that the others have room. */
function excess(all: readonly Presentable[], room: number): readonly Presentable[] {
  let over = all.reduce((sum, { size }) => sum + size, -room);
  return all.filter(({ size }) => {
    if (over <= 0) return false;
    over -= size;
    return true;
  });
}

/** Uploaded ones before others; of those the one that is good for longest. */
function byPrecedence(a: KeylessCertificate, b: KeylessCertificate): number {
  const rank = ({ source }: KeylessCertificate): number => (source === 'upload' ? 0 : 1);
  return rank(a) - rank(b) || latestFirst(a.notAfter, b.notAfter);
}

function latestFirst(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? 1 : -1;
}
