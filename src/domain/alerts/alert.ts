/** Alerts of the platform's own: what is looked for, who is notified, and what is going on. Rules only: no storage, no effects. */
import { PlatformError } from '../errors.ts';
import { normalEmail } from '../users/email.ts';

export const ALERT_RULES = ['app_down', 'restart_loop', 'error_rate', 'disk_low', 'certificate', 'backup'] as const;
export type AlertRuleName = (typeof ALERT_RULES)[number];

interface AlertRule {
  readonly isOn: boolean;
  /** It has to last so long before anybody is notified, and to be over for so long before it counts as over. */
  readonly minutes: number;
  /** What it means depends on the rule, see RULE_WORDS. */
  readonly threshold: number;
}

interface RuleWords {
  readonly about: string;
  /** Of the threshold. */
  readonly unit: string;
  readonly lowest: number;
  readonly highest: number;
}

export const RULE_WORDS: Readonly<Record<AlertRuleName, RuleWords>> = {
  app_down: { about: 'fewer units of an app that should run are started', unit: 'units', lowest: 1, highest: 100 },
  restart_loop: {
    about: 'units of one app died as often within ten minutes',
    unit: 'deaths',
    lowest: 1,
    highest: 10_000,
  },
  error_rate: {
    about: 'the answers of an app within five minutes were 5xx to this share',
    unit: '%',
    lowest: 1,
    highest: 100,
  },
  disk_low: { about: 'less of the disk of the server is free', unit: '%', lowest: 1, highest: 99 },
  certificate: { about: 'a certificate ends sooner, or could not be had', unit: 'days', lowest: 0, highest: 365 },
  backup: { about: 'the newest backup is older, or the last one failed', unit: 'hours', lowest: 1, highest: 8_760 },
};

export interface AlertSettings {
  readonly rules: Readonly<Record<AlertRuleName, AlertRule>>;
  /** Who gets a letter; those who want a message subscribe to alert.firing and alert.resolved by a webhook. */
  readonly mail: readonly string[];
}

export const DEFAULT_ALERTS: AlertSettings = {
  rules: {
    app_down: { isOn: true, minutes: 2, threshold: 1 },
    restart_loop: { isOn: true, minutes: 0, threshold: 5 },
    error_rate: { isOn: true, minutes: 5, threshold: 5 },
    disk_low: { isOn: true, minutes: 5, threshold: 10 },
    certificate: { isOn: true, minutes: 60, threshold: 7 },
    backup: { isOn: true, minutes: 0, threshold: 48 },
  },
  mail: [],
};

/** `pending`: it has not lasted long enough; `firing`: people were notified, or are being notified; `resolved`: it is over, and they were notified. */
type AlertState = 'pending' | 'firing' | 'resolved';

export interface Alert {
  readonly rule: AlertRuleName;
  /** Name of the app, host name of the certificate; '' for the server. */
  readonly subject: string;
  readonly state: AlertState;
  /** One sentence for people, free of secrets, as it was when it began, or when people were notified. */
  readonly message: string;
  /** ISO 8601 UTC: since when it is so. */
  readonly since: string;
  /** Since when it is over, not for long enough yet; '' while it is so. */
  readonly goneSince: string;
  readonly firedAt: string;
  readonly resolvedAt: string;
  /** A letter is due. */
  readonly isMailDue: boolean;
}

export interface AlertChange {
  readonly rules?: Readonly<Partial<Record<string, Partial<AlertRule>>>>;
  readonly mail?: readonly string[];
}

const MAX_MINUTES = 24 * 60;
const MAX_ADDRESSES = 20;
const ADDRESS = /^[^\s@]+@[^\s@]+$/;

/** Throws `input.invalid`. */
export function changedAlerts(now: AlertSettings, { rules = {}, mail }: AlertChange): AlertSettings {
  const changed: Record<AlertRuleName, AlertRule> = { ...now.rules };
  for (const [name, change] of Object.entries(rules)) {
    const rule = ALERT_RULES.find((known) => known === name);
    if (rule === undefined) {
      throw invalid(`There is no rule ${JSON.stringify(name.slice(0, 40))}.`, `There are ${ALERT_RULES.join(', ')}.`);
    }
    changed[rule] = checkedRule(rule, { ...now.rules[rule], ...change });
  }
  return { rules: changed, mail: mail === undefined ? now.mail : checkedMail(mail) };
}

function checkedRule(name: AlertRuleName, rule: AlertRule): AlertRule {
  const { lowest, highest, unit } = RULE_WORDS[name];
  if (!Number.isInteger(rule.minutes) || rule.minutes < 0 || rule.minutes > MAX_MINUTES) {
    throw invalid(`The minutes of ${name} are no whole number from 0 to ${MAX_MINUTES}.`, 'Send for example 5.');
  }
  if (!Number.isInteger(rule.threshold) || rule.threshold < lowest || rule.threshold > highest) {
    throw invalid(
      `The threshold of ${name} is no whole number from ${lowest} to ${highest} (${unit}).`,
      `Send for example ${DEFAULT_ALERTS.rules[name].threshold}.`,
    );
  }
  return rule;
}

function checkedMail(given: readonly string[]): readonly string[] {
  const mail = [...new Set(given.map(normalEmail))];
  const wrong = mail.find((address) => !ADDRESS.test(address) || address.length > 200);
  if (wrong !== undefined)
    throw invalid(`${JSON.stringify(wrong.slice(0, 60))} is no e-mail address.`, 'Send for example ops@example.com.');
  if (mail.length > MAX_ADDRESSES)
    throw invalid(`At most ${MAX_ADDRESSES} addresses get letters.`, 'Use a mailing list.');
  return mail;
}

function invalid(message: string, hint: string): PlatformError {
  return new PlatformError('input.invalid', message, { hint });
}
