/**
 * Use cases of what unit agents of other platforms report. Here the platform watches its units itself, so a report never
 * changes what it sees: it is checked and noted, and what is asked for (environment, whether a unit is there) is answered.
 */
import { demand } from '../access.ts';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Journal } from '../logs/journal.ts';
import type { Store } from '../store.ts';
import type { App, EnvVar } from '../apps/app.ts';
import { demandApp } from '../demand-app.ts';
import { findUnit, unitNotFound } from './find-unit.ts';
import { type Unit, unitName } from './unit.ts';

interface UnitReport {
  /** Id, the beginning of one, or name of the unit. */
  readonly unit: string;
  readonly status: string;
}

export interface UnitReports {
  /** A unit says that it runs, and gets its environment. `customData`: JSON, kept when it is not ''. Errors: as report(). */
  register(caller: Caller, app: string, hostname: string, customData: string): Promise<EnvVar[]>;
  /** Errors: app.not_found, access.denied, unit.not_found, input.invalid. */
  report(caller: Caller, app: string, report: UnitReport): Promise<void>;
  /** Which of these units are there. Errors: access.denied. */
  known(caller: Caller, ids: readonly string[]): Promise<{ readonly id: string; readonly isFound: boolean }[]>;
  /** Replaces what is kept with the app for programs. Errors: app.not_found, access.denied, input.invalid, input.too_large. */
  keep(caller: Caller, app: string, customData: unknown): Promise<void>;
}

const STATUSES: ReadonlySet<string> = new Set(['created', 'building', 'error', 'started', 'starting', 'stopped']);
const MAX_CUSTOM_DATA = 64 * 1024;
const MAX_DEPTH = 50;

export function createUnitReports({
  store,
  journal,
}: {
  readonly store: Store;
  readonly journal: Journal;
}): UnitReports {
  async function allowed(caller: Caller, appName: string): Promise<App> {
    const app = await demandApp(store, appName);
    demand(caller, 'unit.report', { app });
    return app;
  }

  async function keep(app: App, customData: unknown): Promise<void> {
    if (typeof customData !== 'object' || customData === null || Array.isArray(customData)) {
      throw new PlatformError('input.invalid', 'Custom data is a JSON object.', {
        hint: 'Send for example {"a": "b"}.',
      });
    }
    if (isDeeperThan(MAX_DEPTH, customData)) {
      throw new PlatformError('input.invalid', `Custom data has at most ${MAX_DEPTH} levels.`);
    }
    if (JSON.stringify(customData).length > MAX_CUSTOM_DATA) {
      throw new PlatformError('input.too_large', `Custom data has at most ${MAX_CUSTOM_DATA} characters.`);
    }
    await store.transact((tx) =>
      tx.updateApp(app.name, { customData: customData as Readonly<Record<string, unknown>> }),
    );
  }

  return {
    async register(caller, appName, hostname, customData) {
      const app = await allowed(caller, appName);
      demandUnit(await store.units(appName), hostname);
      if (customData !== '') await keep(app, fromJson(customData));
      return store.env(appName);
    },

    async report(caller, appName, { unit: wanted, status }) {
      await allowed(caller, appName);
      if (!STATUSES.has(status)) {
        throw new PlatformError('input.invalid', 'invalid status', { hint: `Use one of ${[...STATUSES].join(', ')}.` });
      }
      const unit = demandUnit(await store.units(appName), wanted);
      if (status === unit.state) return;
      await journal.note(appName, `the unit ${unitName(unit)}, seen ${unit.state}, reports that it is ${status}`);
    },

    async known(caller, ids) {
      demand(caller, 'unit.report_all');
      const units = await store.allUnits();
      return ids.map((id) => ({ id, isFound: findUnit(units, id) !== undefined }));
    },

    async keep(caller, appName, customData) {
      await keep(await allowed(caller, appName), customData);
    },
  };
}

function demandUnit(units: readonly Unit[], wanted: string): Unit {
  const found = findUnit(units, wanted);
  if (found !== undefined) return found;
  throw unitNotFound(wanted, 'Name it by its id, or the first four digits of it or more.');
}

/** Whatever writes JSON goes down once per level, and at some depth has no stack any more. */
function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner));
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new PlatformError('input.invalid', 'Custom data is not JSON.', { cause });
  }
}
