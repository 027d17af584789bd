/** Use cases of certificates: what there is, why there is none, and what people can do about it. */
import { randomHex } from '../../lib/ids.ts';
import { atMost } from '../../lib/deadline.ts';
import { factsOf } from '../../lib/x509/inspect.ts';
import type { Act } from '../act.ts';
import { demand, may } from '../access.ts';
import { demandPlace, MOST } from '../bounds.ts';
import type { App } from '../apps/app.ts';
import { demandApp } from '../demand-app.ts';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Store } from '../store.ts';
import { type CertificateAuthority, IssueFailure, type PersistRecord } from './authority.ts';
import {
  type CertificateRecord,
  type CertificateSummary,
  coversAny,
  isGood,
  type KeylessCertificate,
  newRecord,
} from './certificate.ts';
import { type Cause, nextStep } from './cause.ts';
import type { Issuance } from './issuance.ts';
import type { NameLooks } from './name-looks.ts';
import type { Presenter } from './presenter.ts';
import { checkUpload } from './upload.ts';
import type { CertificateUpkeep } from './upkeep.ts';
import { hostsOf, shownNames } from './wanted.ts';

export interface CertificateView {
  readonly record: KeylessCertificate;
  /** Whether clients are shown it now, unless another one goes before it. */
  readonly isPresented: boolean;
  /** It was issued, and its time is over. */
  readonly isExpired: boolean;
  /** '' when there is nothing to do. */
  readonly nextStep: string;
}

export interface CertificateReport {
  readonly name: string;
  /** Null: there is none for this name. */
  readonly certificate: CertificateView | null;
  /** What is wrong with the name now, looked at for this answer; null: nothing, as far as can be seen from here. */
  readonly cause: Cause | null;
  /** One or two sentences. */
  readonly problem: string;
  readonly nextStep: string;
}

export interface AuthorityView {
  /** '' when there is none. */
  readonly name: string;
  readonly isLocal: boolean;
  /** PEM of what people have to trust; '' when everybody does. */
  readonly root: string;
  /** SHA-256 of it, hexadecimal; '' without one. */
  readonly fingerprint: string;
  /** The record that proves the whole domain; null where none is needed. */
  readonly persistRecord: PersistRecord | null;
}

export interface Certificates {
  /** Of the apps that the caller may see; admins see all. Sorted by name. */
  list(caller: Caller): Promise<CertificateView[]>;
  /** Errors: certificate.not_found, access.denied. */
  why(caller: Caller, name: string): Promise<CertificateReport>;
  /** Tries now, and answers what came of it, or that it is under way. Errors: certificate.not_found, access.denied. */
  renew(caller: Caller, name: string): Promise<CertificateView>;
  /** With an app for the names it has; without one, by admins, for all that the certificate has. Errors: certificate.invalid. */
  add(
    caller: Caller,
    input: { chain: unknown; key: unknown; app: string },
  ): Promise<{ view: CertificateView; notes: readonly string[] }>;
  /** Only an uploaded one. Errors: certificate.not_found, certificate.invalid. */
  remove(caller: Caller, name: string): Promise<void>;
  authority(caller: Caller): Promise<AuthorityView>;
}

interface CertificatesDeps {
  readonly store: Store;
  readonly act: Act;
  readonly authorities: readonly CertificateAuthority[];
  readonly issuance: Issuance;
  readonly upkeep: CertificateUpkeep;
  readonly looks: NameLooks;
  readonly presenter: Presenter;
  /** The router has a listener for TLS. */
  readonly speaksTls: boolean;
  readonly domain: string;
  readonly wildcard: boolean;
  readonly persists: boolean;
  readonly publicAddress: () => string;
  readonly now: () => Date;
}

const RENEW_MS = 60_000;
const LOOK_MS = 30_000;

export function createCertificates(deps: CertificatesDeps): Certificates {
  const { store, act, authorities, issuance, upkeep, looks, presenter, domain, wildcard, publicAddress, now } = deps;

  const viewOf = (record: KeylessCertificate): CertificateView => {
    const isPresented = deps.speaksTls && presenter.presentsCertificate(record.id);
    const isExpired = record.state === 'issued' && !isGood(record, now());
    const [name = ''] = record.names;
    const step =
      record.cause === null ? '' : nextStep(record.cause, { name, address: publicAddress(), app: record.app });
    return { record, isPresented, isExpired, nextStep: step };
  };

  /** By the id or a host name. What a tenant has uploaded may claim names of others: those count last. */
  function among(records: readonly CertificateSummary[], apps: readonly App[], wanted: string) {
    const shown = (one: CertificateSummary): readonly string[] => shownNames(one, apps, domain);
    return {
      named:
        records.find(({ id }) => id === wanted) ??
        records.find((one) => one.names.includes(wanted) && shown(one).includes(wanted)),
      covering: records.find((one) => coversAny({ names: shown(one) }, wanted)),
      claiming: records.find(({ names }) => names.includes(wanted)),
    };
  }

  const isExpiredUpload = (record: CertificateSummary): boolean => record.source === 'upload' && !isGood(record, now());

  /** An uploaded one that has expired counts where there is no other: its names get one from an authority. */
  function foremost(records: readonly CertificateSummary[], apps: readonly App[], wanted: string) {
    const kept = records.filter((record) => !isExpiredUpload(record));
    const [current, all] = [among(kept, apps, wanted), among(records, apps, wanted)];
    return current.named ?? current.covering ?? all.named ?? all.covering ?? all.claiming;
  }

  /** Before all others one that was uploaded: only such a one can be removed. */
  function removable(records: readonly CertificateSummary[], apps: readonly App[], wanted: string) {
    const uploads = records.filter(({ source }) => source === 'upload');
    const uploaded = among(uploads, apps, wanted);
    const { named } = among(records, apps, wanted);
    return uploaded.named ?? named ?? uploaded.claiming ?? foremost(records, apps, wanted);
  }

  async function find(
    name: string,
    choose: typeof foremost = foremost,
  ): Promise<{ record: KeylessCertificate; app: App | null }> {
    const wanted = name.trim().toLowerCase();
    const [records, apps] = await Promise.all([store.certificateSummaries(), store.apps()]);
    const chosen = choose(records, apps, wanted);
    const [record] = chosen === undefined ? [] : await store.certificatesWithoutKeys([chosen.id]);
    if (record === undefined) {
      throw new PlatformError('certificate.not_found', `There is no certificate for ${wanted}.`, {
        hint: 'See which there are: tancho cert list',
      });
    }
    return { record, app: record.app === '' ? null : await store.app(record.app) };
  }

  const subjectOf = (app: App | null): { app?: App } => (app === null ? {} : { app });

  return {
    async list(caller) {
      demand(caller, 'cert.list');
      const [summaries, apps] = await Promise.all([store.certificateSummaries(), store.apps()]);
      const byName = new Map(apps.map((app) => [app.name, app]));
      const mayRead = ({ app }: CertificateSummary): boolean =>
        may(caller, 'cert.info', subjectOf(byName.get(app) ?? null));
      const records = await store.certificatesWithoutKeys(summaries.filter(mayRead).map(({ id }) => id));
      return records.map(viewOf);
    },

    async why(caller, given) {
      const name = given.trim().toLowerCase();
      const owner = hostsOf(await store.apps(), domain).find((host) => host.name === name);
      const found = await find(name).catch((error: unknown) => {
        if (owner === undefined) throw error;
        return { record: null, app: null };
      });
      const app = owner === undefined ? found.app : await store.app(owner.app);
      demand(caller, 'cert.info', subjectOf(app));
      const certificate = found.record === null ? null : viewOf(found.record);
      const upload = found.record?.source === 'upload' ? found.record : null;
      const isIssuable = upload === null || (isExpiredUpload(upload) && owner !== undefined);
      const names = upload === null && found.record !== null ? found.record.names : [name];
      const looked = isIssuable ? await lookAt(names) : null;
      const facts = { name, address: publicAddress(), app: app?.name ?? '' };
      if (looked !== null) return { name, certificate, ...looked, nextStep: nextStep(looked.cause, facts) };
      if (upload !== null) return { name, certificate, cause: null, ...problemOf(upload) };
      const { cause = null, problem = '' } = certificate?.record ?? {};
      return { name, certificate, cause, problem, nextStep: cause === null ? '' : nextStep(cause, facts) };
    },

    async renew(caller, name) {
      const { record, app } = await find(name);
      return act(caller, 'cert.renew', subjectOf(app), { target: `certificate:${record.names[0] ?? ''}` }, async () => {
        if (record.source === 'upload') {
          throw new PlatformError('certificate.invalid', 'An uploaded certificate is not renewed by the platform.', {
            hint: 'Upload the next one: tancho cert add --chain <file> --key <file>',
          });
        }
        if (authorities.length === 0) {
          throw new PlatformError('certificate.invalid', 'No authority is asked for certificates here.', {
            hint: 'An operator can set edge.tls.listen and certificates.authority (docs/https.md); or upload one: tancho cert add --chain <file> --key <file>',
          });
        }
        const isLimited = record.cause === 'rate_limited' && Date.parse(record.nextAttemptAt ?? '') > now().getTime();
        if (isLimited) return viewOf(record);
        await store.transact(async (tx) => {
          const current = await tx.certificate(record.id);
          if (current !== null) await tx.putCertificate({ ...current, nextAttemptAt: now().toISOString() });
        });
        await atMost(RENEW_MS, upkeep.attempt(record.id));
        const current = await store.certificate(record.id);
        return viewOf(current === null ? record : withoutKeys(current));
      });
    },

    async add(caller, { chain, key, app: appName }) {
      const app = appName === '' ? null : await demandApp(store, appName);
      demand(caller, 'cert.add', subjectOf(app));
      const upload = checkUpload(chain, key, now());
      const { facts } = upload;
      const hosts = hostsOf(app === null ? [] : [app], domain).map(({ name }) => name);
      if (app !== null && !hosts.some((host) => coversAny(facts, host))) {
        throw new PlatformError(
          'certificate.invalid',
          `The certificate is for ${facts.names.join(', ')}, none of which is a name of ${app.name}.`,
          {
            hint: `The app has: ${hosts.join(', ')}. Add the name first: tancho cname add <name> -a ${app.name}`,
          },
        );
      }
      const target = `certificate:${facts.names[0] ?? ''}`;
      const record = await act(caller, 'cert.add', subjectOf(app), { target, detail: facts.names.join(' ') }, () =>
        store.transact(async (tx) => {
          const names = [...facts.names].sort();
          const uploaded = (await tx.certificateSummaries()).filter(
            (one) => one.source === 'upload' && one.app === appName,
          );
          const same = uploaded.find((one) => one.names.join() === names.join());
          if (app !== null && same === undefined)
            demandPlace(uploaded.length, MOST.certificatesOfApp, {
              plural: 'certificates may be uploaded for an app',
              hint: 'Remove one that is not needed any more: tancho cert remove <name>',
            });
          const made: CertificateRecord = {
            ...newRecord(same?.id ?? randomHex(24), names, appName, now()),
            ...(same !== undefined && { createdAt: same.createdAt }),
            ...{ source: 'upload', state: 'issued', nextAttemptAt: null },
            ...{ chain: upload.chain, key: upload.key, issuer: facts.issuer },
            notBefore: facts.notBefore.toISOString(),
            notAfter: facts.notAfter.toISOString(),
          };
          await tx.putCertificate(made);
          return made;
        }),
      );
      await presenter.publish();
      upkeep.wake();
      return { view: viewOf(withoutKeys(record)), notes: upload.notes };
    },

    async remove(caller, name) {
      const wanted = name.trim().toLowerCase();
      const { record, app } = await find(wanted, removable);
      return act(
        caller,
        'cert.remove',
        subjectOf(app),
        { target: `certificate:${record.names[0] ?? ''}` },
        async () => {
          if (record.source !== 'upload') {
            throw new PlatformError(
              'certificate.invalid',
              'This certificate comes by itself, for as long as an app answers at its name.',
              {
                hint:
                  record.app === ''
                    ? 'Turn it off in the settings: docs/https.md.'
                    : `Remove the name: tancho cname remove ${wanted} -a ${record.app}`,
              },
            );
          }
          await store.transact((tx) => tx.deleteCertificate(record.id));
          await presenter.publish();
          upkeep.wake();
        },
      );
    },

    async authority(caller) {
      demand(caller, 'cert.authority');
      const [first] = authorities;
      if (first === undefined) return { name: '', isLocal: false, root: '', fingerprint: '', persistRecord: null };
      const root = (await first.root()) ?? '';
      const { signal } = new AbortController();
      const persistRecord = deps.persists && wildcard ? await inWords(first.persistRecord(domain, true, signal)) : null;
      const fingerprint = root === '' ? '' : factsOf(root).fingerprint;
      return { name: first.name, isLocal: !first.looksAtNames, root, fingerprint, persistRecord };
    },
  };

  /** Of an uploaded one, which nobody but people renews. */
  function problemOf(record: CertificateSummary): Pick<CertificateReport, 'problem' | 'nextStep'> {
    if (!isExpiredUpload(record)) return { problem: '', nextStep: '' };
    return {
      problem: `The uploaded certificate expired on ${record.notAfter.slice(0, 10)}.`,
      nextStep: 'Upload the next one: tancho cert add --chain <file> --key <file>',
    };
  }

  async function lookAt(names: readonly string[]): Promise<{ cause: Cause; problem: string } | null> {
    const [authority] = authorities;
    if (authority === undefined) return null;
    const signal = AbortSignal.timeout(LOOK_MS);
    try {
      await looks.forIssuance(names, authority, issuance.challengesFor(names), signal);
      return null;
    } catch (error) {
      if (error instanceof IssueFailure) return { cause: error.code, problem: error.message };
      throw error;
    }
  }
}

function withoutKeys({ key: _key, pendingKey: _pending, ...shown }: CertificateRecord): KeylessCertificate {
  return shown;
}

async function inWords<T>(asking: Promise<T>): Promise<T> {
  return asking.catch((error: unknown) => {
    if (!(error instanceof IssueFailure)) throw error;
    throw new PlatformError('unavailable', error.message, { cause: error, hint: 'Try again in a moment.' });
  });
}
