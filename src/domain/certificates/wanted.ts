/** Which certificates there have to be, by what is served. Rules only. */
import type { App } from '../apps/app.ts';
import { hostNamesOf } from '../apps/host-names.ts';
import { type CertificateSummary, coversAny } from './certificate.ts';

export interface WantedCertificate {
  readonly names: readonly string[];
  /** '' for names of the platform. */
  readonly app: string;
}

interface WantedFacts {
  readonly apps: readonly Pick<App, 'name' | 'cname' | 'removing' | 'swappedWith' | 'routedProcesses'>[];
  readonly domain: string;
  /** Names of the platform itself. */
  readonly ownNames: readonly string[];
  /** One certificate for every name below the domain. */
  readonly wildcard: boolean;
  /** Those that can be presented. */
  readonly uploads: readonly CertificateSummary[];
}

/** One per name, but for those that a wildcard or an uploaded certificate has. */
export function wantedCertificates({ apps, domain, ownNames, wildcard, uploads }: WantedFacts): WantedCertificate[] {
  const all = wildcard ? `*.${domain}` : null;
  const hosts = [...ownNames.map((name) => ({ name, app: '' })), ...hostsOf(apps, domain)];
  const single = hosts
    .filter(({ name }) => all === null || !coversAny({ names: [all] }, name))
    .filter(({ name, app }) => !uploads.some((one) => (one.app === '' || one.app === app) && coversAny(one, name)))
    .map(({ name, app }) => ({ names: [name], app }));
  const isUploaded = all !== null && uploads.some((one) => one.app === '' && one.names.includes(all));
  return all === null || isUploaded ? single : [{ names: [all], app: '' }, ...single];
}

/** Every host name at which an app answers. */
export function hostsOf(apps: WantedFacts['apps'], domain: string): { readonly name: string; readonly app: string }[] {
  return apps
    .filter((app) => !app.removing)
    .flatMap((app) => hostNamesOf(app, domain).map(({ name }) => ({ name, app: app.name })));
}

/** What a certificate is shown for: one that was uploaded for an app says what it likes, and counts for the names that the app has. */
export function shownNames(record: CertificateSummary, apps: WantedFacts['apps'], domain: string): readonly string[] {
  if (record.source !== 'upload' || record.app === '') return record.names;
  const own = apps.filter(({ name }) => name === record.app);
  return hostsOf(own, domain).flatMap(({ name }) => (coversAny(record, name) ? [name] : []));
}
