/** Pure: what is wrong now, by the rules. */
import type { App } from '../apps/app.ts';
import type { BackupState } from '../backups/backup-state.ts';
import type { CertificateSummary } from '../certificates/certificate.ts';
import type { DiskSpace } from '../diagnosis/probe.ts';
import type { AppSeries } from '../metrics/app-series.ts';
import type { Unit } from '../units/unit.ts';
import type { AlertRuleName, AlertSettings } from './alert.ts';

export interface AlertFacts {
  readonly now: Date;
  readonly apps: readonly Pick<App, 'name' | 'desired' | 'removing' | 'rollout'>[];
  readonly units: readonly Pick<Unit, 'app' | 'state' | 'rollout'>[];
  readonly series: ReadonlyMap<string, Pick<AppSeries, 'read'>>;
  readonly certificates: readonly Pick<CertificateSummary, 'names' | 'state' | 'problem' | 'notAfter'>[];
  /** Null: none are made. */
  readonly backups: BackupState | null;
  /** Null: it is not known. */
  readonly disk: DiskSpace | null;
}

export interface Condition {
  readonly rule: AlertRuleName;
  readonly subject: string;
  readonly message: string;
}

const RESTARTS_MS = 10 * 60_000;
const ERRORS_MS = 5 * 60_000;
/** With fewer answers the share of errors says nothing. */
const FEWEST_ANSWERS = 20;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export function conditionsOf(facts: AlertFacts, { rules }: Pick<AlertSettings, 'rules'>): Condition[] {
  const found: Condition[] = [];
  const say = (rule: AlertRuleName, subject: string, message: string): void =>
    void found.push({ rule, subject, message });
  const running = facts.apps.filter(
    ({ desired, removing, rollout }) => desired === 'running' && !removing && rollout !== null,
  );
  if (rules.app_down.isOn) for (const app of running) sayDown(app, facts, rules.app_down.threshold, say);
  if (rules.restart_loop.isOn) {
    for (const { name } of running) {
      const deaths = sum(facts, name, RESTARTS_MS, ({ restarts }) => restarts);
      if (deaths >= rules.restart_loop.threshold) {
        say('restart_loop', name, `Units of ${name} have died ${deaths} times in ten minutes.`);
      }
    }
  }
  if (rules.error_rate.isOn) for (const { name } of running) sayErrors(name, facts, rules.error_rate.threshold, say);
  if (rules.disk_low.isOn) sayDisk(facts, rules.disk_low.threshold, say);
  if (rules.certificate.isOn)
    for (const one of facts.certificates) sayCertificate(one, facts, rules.certificate.threshold, say);
  if (rules.backup.isOn && facts.backups !== null) sayBackup(facts.backups, facts.now, rules.backup.threshold, say);
  return found;
}

type Say = (rule: AlertRuleName, subject: string, message: string) => void;

function sayDown({ name, rollout }: AlertFacts['apps'][number], { units }: AlertFacts, least: number, say: Say): void {
  const own = units.filter((unit) => unit.app === name && unit.rollout === rollout);
  // Of an app with fewer units than are asked for all have to be started; one without any is left alone.
  const wanted = Math.min(least, own.length);
  const started = own.filter(({ state }) => state === 'started').length;
  if (started < wanted) say('app_down', name, `${name} is down: ${started} of ${own.length} units are started.`);
}

function sayErrors(name: string, facts: AlertFacts, percent: number, say: Say): void {
  const errors = sum(facts, name, ERRORS_MS, ({ status5xx }) => status5xx);
  const classes = ['status1xx', 'status2xx', 'status3xx', 'status4xx', 'status5xx'] as const;
  const all = sum(facts, name, ERRORS_MS, (values) => classes.reduce((total, field) => total + values[field], 0));
  if (all < FEWEST_ANSWERS || errors * 100 < all * percent) return;
  say('error_rate', name, `${name} answered ${errors} of ${all} requests in five minutes with a status of 5xx.`);
}

function sayDisk({ disk }: AlertFacts, percent: number, say: Say): void {
  if (disk === null || disk.totalBytes === 0 || disk.freeBytes * 100 >= disk.totalBytes * percent) return;
  const free = Math.floor(disk.freeBytes / 1024 ** 2);
  const message = `Of the disk of the server ${free} MiB are free, less than ${percent} %. To see who holds what: tancho server disk`;
  say('disk_low', '', message);
}

function sayCertificate(one: AlertFacts['certificates'][number], { now }: AlertFacts, days: number, say: Say): void {
  const [name = ''] = one.names;
  if (one.state === 'unused') return;
  const daysLeft = one.notAfter === '' ? null : (Date.parse(one.notAfter) - now.getTime()) / DAY_MS;
  if (daysLeft !== null && daysLeft < days) {
    const when = daysLeft < 0 ? 'has ended' : `ends in ${Math.floor(daysLeft)} days`;
    const why = one.problem === '' ? '' : ` The last attempt to renew it failed: ${one.problem}`;
    say('certificate', name, `The certificate of ${name} ${when}.${why}`);
  } else if (daysLeft === null && one.state === 'failed') {
    say('certificate', name, `There is no certificate for ${name}: ${one.problem}`);
  }
}

function sayBackup({ succeededAt, problem }: BackupState, now: Date, hours: number, say: Say): void {
  const last = succeededAt === '' ? 'There is none yet.' : `The newest is of ${succeededAt}.`;
  if (problem !== '') say('backup', '', `${problem} ${last}`);
  else if (succeededAt !== '' && now.getTime() - Date.parse(succeededAt) > hours * HOUR_MS)
    say('backup', '', `The newest backup is older than ${hours} hours. ${last}`);
}

type Values = ReturnType<AppSeries['read']>['points'][number]['values'];

function sum({ series, now }: AlertFacts, app: string, ms: number, value: (values: Values) => number): number {
  const to = now.getTime();
  const points = series.get(app)?.read(to - ms, to).points ?? [];
  return points.reduce((total, { values }) => total + value(values), 0);
}
