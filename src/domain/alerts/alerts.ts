/** Use cases of alerts: what is going on, what is looked for, and who is notified. */
import { demand } from '../access.ts';
import type { Act } from '../act.ts';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Store } from '../store.ts';
import type { Mailer } from '../users/mailer.ts';
import { announce } from '../webhooks/occurrence.ts';
import { type Alert, type AlertChange, type AlertSettings, changedAlerts } from './alert.ts';
import { alertsIn, SETTINGS_KEY, settingsIn, textOf } from './alert-store.ts';

export interface AlertsView {
  readonly settings: AlertSettings;
  /** Those that are going on first, then those that are over, the newest first. */
  readonly alerts: readonly Alert[];
}

/** What a test has sent. */
export interface AlertTest {
  readonly mailed: readonly string[];
  /** Webhooks that get a message. */
  readonly webhooks: number;
}

export interface Alerts {
  /** For admins, as all here. */
  show(caller: Caller): Promise<AlertsView>;
  /** Only what is given is changed. Errors: input.invalid. */
  change(caller: Caller, change: AlertChange): Promise<AlertsView>;
  /** Sends what an alert would. Errors: unavailable, timeout; conflict when nobody would be notified. */
  test(caller: Caller): Promise<AlertTest>;
}

interface AlertsDeps {
  readonly store: Store;
  readonly mailer: Mailer;
  readonly wake: () => void;
  readonly act: Act;
  readonly now: () => Date;
}

const TEST = {
  kind: 'alert.firing',
  app: '',
  message: 'This message tests the alerts.',
  facts: { rule: 'test' },
} as const;

export function createAlerts({ store, mailer, wake, act, now }: AlertsDeps): Alerts {
  async function view(): Promise<AlertsView> {
    const alerts = await alertsIn(store);
    const going = alerts.filter(({ state }) => state !== 'resolved');
    const over = alerts.filter(({ state }) => state === 'resolved').reverse();
    return { settings: await settingsIn(store), alerts: [...going, ...over] };
  }

  return {
    async show(caller) {
      demand(caller, 'alert.show');
      return view();
    },

    change: (caller, change) =>
      act(caller, 'alert.update', {}, { target: 'alerts', lease: 'alerts' }, async () => {
        await store.transact(async (tx) =>
          tx.setSetting(SETTINGS_KEY, textOf(changedAlerts(await settingsIn(tx), change))),
        );
        return view();
      }),

    test: (caller) =>
      act(caller, 'alert.test', {}, { target: 'alerts' }, async () => {
        const { mail } = await settingsIn(store);
        const subscribed = (await store.webhooks()).filter(
          ({ scope, kinds }) => scope === 'platform' && (kinds.length === 0 || kinds.includes(TEST.kind)),
        );
        if (mail.length === 0 && subscribed.length === 0) throw nobody();
        await store.transact((tx) => announce(tx, TEST, now().toISOString()));
        wake();
        for (const to of mail) await mailer.send({ to, subject: '[Tancho] alert: test', text: `${TEST.message}\n` });
        return { mailed: mail, webhooks: subscribed.length };
      }),
  };
}

function nobody(): PlatformError {
  return new PlatformError(
    'alert.no_recipient',
    'Nobody would get it: no address gets letters, and no webhook gets alerts.',
    {
      hint: 'tancho alert set --mail ops@example.com, or tancho webhook add <url> --all -e alert.firing alert.resolved',
    },
  );
}
