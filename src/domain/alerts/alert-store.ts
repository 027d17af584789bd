/** Alerts as they are kept: two settings of the platform, for there are few of them and they are read as a whole. */
import type { Store } from '../store.ts';
import { type Alert, type AlertSettings, DEFAULT_ALERTS } from './alert.ts';

export const SETTINGS_KEY = 'alerts.settings';
export const STATES_KEY = 'alerts.states';

type Reader = Pick<Store, 'setting'>;

export async function settingsIn(store: Reader): Promise<AlertSettings> {
  const text = (await store.setting(SETTINGS_KEY)) ?? '';
  if (text === '') return DEFAULT_ALERTS;
  const kept = JSON.parse(text) as AlertSettings;
  // A rule that is newer than what was kept has its defaults.
  return { ...kept, rules: { ...DEFAULT_ALERTS.rules, ...kept.rules } };
}

export async function alertsIn(store: Reader): Promise<readonly Alert[]> {
  const text = (await store.setting(STATES_KEY)) ?? '';
  return text === '' ? [] : (JSON.parse(text) as Alert[]);
}

export function textOf(kept: readonly Alert[] | AlertSettings): string {
  return JSON.stringify(kept);
}
