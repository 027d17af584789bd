/**
 * Looks at what is known anyway, twice a minute, and notifies people when something begins to be wrong and when that is over. What
 * was sent is remembered with the message to the webhooks in one transaction, so a restart notifies nobody twice.
 */
import type { Logger } from '../../lib/logger.ts';
import { repeatedly } from '../../lib/repeatedly.ts';
import { backupStateIn } from '../backups/backup-state.ts';
import type { BackupStore } from '../backups/backup-store.ts';
import type { MachineProbe } from '../diagnosis/probe.ts';
import { isPlatformError } from '../errors.ts';
import type { MetricsSampler } from '../metrics/sampler.ts';
import type { Store } from '../store.ts';
import type { Mailer } from '../users/mailer.ts';
import { announce } from '../webhooks/occurrence.ts';
import type { Alert } from './alert.ts';
import { alertsIn, settingsIn, STATES_KEY, textOf } from './alert-store.ts';
import { conditionsOf } from './conditions.ts';
import { letterOf } from './letter.ts';
import { progressOf } from './progress.ts';

interface AlertWatchDeps {
  readonly store: Pick<Store, 'setting' | 'transact' | 'apps' | 'allUnits' | 'certificateSummaries' | 'version'>;
  readonly sampler: Pick<MetricsSampler, 'all'>;
  readonly probe: Pick<MachineProbe, 'disk'>;
  /** Null: none are made. */
  readonly backupStore: BackupStore | null;
  readonly mailer: Mailer;
  readonly wake: () => void;
  readonly logger: Logger;
  readonly now: () => Date;
}

const EVERY_MS = 30_000;
const TRIED_FOR_MS = 24 * 60 * 60_000;

type Facts = Awaited<ReturnType<AlertWatch['factsNow']>>;

export class AlertWatch {
  readonly #deps: AlertWatchDeps;
  #stop: (() => Promise<void>) | null = null;
  /** Who has a letter that others wait for: of each alert the addresses. */
  readonly #mailed = new Map<string, Set<string>>();
  #stored: { readonly version: string; readonly facts: Facts } | null = null;

  constructor(deps: AlertWatchDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#stop ??= repeatedly(EVERY_MS, (signal) => this.look(signal));
  }

  async close(): Promise<void> {
    await this.#stop?.();
  }

  /** Never rejects: what cannot be had now is looked at the next time. */
  async look(signal?: AbortSignal): Promise<void> {
    const { store, sampler, probe, logger, now, wake } = this.#deps;
    try {
      const at = now();
      const { settings, alerts: known, ...stored } = await this.#facts();
      const facts = { now: at, series: sampler.all, disk: await probe.disk(), ...stored };
      const { isChanged, alerts, toNotify } = progressOf(known, conditionsOf(facts, settings), settings, at);
      if (isChanged) {
        await store.transact(async (tx) => {
          await tx.setSetting(STATES_KEY, textOf(alerts));
          for (const alert of toNotify) await announce(tx, occurrenceOf(alert), at.toISOString());
        });
        if (toNotify.length > 0) wake();
      }
      await this.#sendLetters(alerts, settings.mail, signal);
    } catch (error) {
      logger.warn({ err: error }, 'the conditions of alerts could not be looked at');
    }
  }

  /** Read anew only when anything was committed since. */
  async #facts(): Promise<Facts> {
    const version = await this.#deps.store.version();
    if (this.#stored?.version !== version) this.#stored = { version, facts: await this.factsNow() };
    return this.#stored.facts;
  }

  async factsNow() {
    const { store, backupStore } = this.#deps;
    return {
      settings: await settingsIn(store),
      alerts: await alertsIn(store),
      apps: await store.apps(),
      units: await store.allUnits(),
      certificates: await store.certificateSummaries(),
      backups: backupStore === null ? null : await backupStateIn(store),
    };
  }

  /** What is not taken now is tried again with the next look, for a day; who has a letter gets it once, whoever of the others does not. */
  async #sendLetters(alerts: readonly Alert[], addresses: readonly string[], signal?: AbortSignal): Promise<void> {
    const { store, now } = this.#deps;
    const due = alerts.filter(({ isMailDue }) => isMailDue);
    const keys = new Set(due.map(keyOf));
    for (const key of this.#mailed.keys()) if (!keys.has(key)) this.#mailed.delete(key);
    for (const alert of due) {
      const mailed = this.#mailed.get(keyOf(alert)) ?? new Set();
      this.#mailed.set(keyOf(alert), mailed);
      const isAnswered = await this.#mail(
        alert,
        addresses.filter((to) => !mailed.has(to)),
        mailed,
        signal,
      );
      const isLate = now().getTime() - Date.parse(alert.resolvedAt || alert.firedAt) > TRIED_FOR_MS;
      if (isLate || addresses.every((to) => mailed.has(to))) {
        await store.transact(async (tx) => {
          const reported = (await alertsIn(tx)).map((one) =>
            keyOf(one) === keyOf(alert) ? { ...one, isMailDue: false } : one,
          );
          await tx.setSetting(STATES_KEY, textOf(reported));
        });
      }
      if (!isAnswered) return;
    }
  }

  /** False: the mail server does not answer, and would take as long for every further letter. */
  async #mail(alert: Alert, addresses: readonly string[], mailed: Set<string>, signal?: AbortSignal): Promise<boolean> {
    const { mailer, logger } = this.#deps;
    for (const to of addresses) {
      try {
        await mailer.send({ to, ...letterOf(alert) }, signal);
        mailed.add(to);
      } catch (error) {
        logger.warn({ err: error, rule: alert.rule, to }, 'a letter about an alert could not be sent');
        if (isPlatformError(error, 'timeout')) return false;
      }
    }
    return true;
  }
}

/** Key of a letter: that an alert began is another letter than that it is over. */
function keyOf({ rule, subject, since, state }: Alert): string {
  return [rule, subject, since, state].join(' ');
}

function occurrenceOf({ rule, subject, state, message, since }: Alert) {
  const app = rule === 'disk_low' || rule === 'certificate' || rule === 'backup' ? '' : subject;
  const kind = state === 'resolved' ? ('alert.resolved' as const) : ('alert.firing' as const);
  const said = state === 'resolved' ? `Over: ${message}` : message;
  return { kind, app, message: said, facts: { rule, subject, since } };
}
