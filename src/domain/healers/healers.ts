/**
 * Use cases of healers (specification 4.5): which there are, and executing one. One runs at a time, and one of each user beside it: a
 * user's run heals what is about the user's own apps; the rest, and healers that run elsewhere, are for admins.
 */
import { demand, may } from '../access.ts';
import type { Act } from '../act.ts';
import { type Caller, callerName, PLATFORM } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { PlatformEvent } from '../audit/events.ts';
import type { Leases } from '../leases.ts';
import type { Store } from '../store.ts';
import { randomHex } from '../../lib/ids.ts';
import type { Logger } from '../../lib/logger.ts';
import type { ExternalHealer, ExternalHealers } from './external-healer.ts';
import type { Finding, Healer, HealingReport, Treatment } from './healer.ts';
import { treat } from './treat.ts';

const HEALERS_LEASE = 'platform:healers';
const LEASE_WAIT_MS = 30_000;
const MAX_HEALINGS = 200;

export interface HealerInfo {
  readonly name: string;
  readonly description: string;
  /** Run by somebody else, at an address of the configuration. */
  readonly isExternal: boolean;
}

export interface Healers {
  /** Those that the caller may execute, sorted by name. */
  list(caller: Caller): Promise<HealerInfo[]>;
  /** Errors: healer.not_found, app.busy while another one runs, healer.failed. */
  run(caller: Caller, name: string): Promise<HealingReport>;
  /** What was healed lately, newest first; at most 200. */
  recent(caller: Caller): Promise<PlatformEvent[]>;
  /**
   * Runs all of them on the platform's own behalf, as often as the configuration says. `isTimely` decides what is healed in this
   * round already. Never throws for what one healer fails at.
   */
  round(isTimely: (healer: string, finding: Finding) => boolean): Promise<void>;
}

interface HealersDeps {
  readonly healers: readonly Healer[];
  readonly external: readonly ExternalHealer[];
  readonly externalHealers: ExternalHealers;
  readonly store: Store;
  readonly act: Act;
  readonly leases: Leases;
  readonly logger: Logger;
  readonly now: () => Date;
}

export function createHealers(deps: HealersDeps): Healers {
  const { healers, external, externalHealers, store, act, leases, logger, now } = deps;

  /** A user's run takes the leases of the user's apps and may take long; the platform's own rounds do not wait for it. */
  function alone<T>(caller: Caller, name: string, work: () => Promise<T>): Promise<T> {
    const by = callerName(caller);
    const lease = may(caller, 'healer.heal') ? HEALERS_LEASE : `healers:${by}`;
    return leases.hold(lease, { waitMs: LEASE_WAIT_MS, holder: `"${name}" for ${by}` }, work);
  }

  async function report(
    healer: string,
    work: () => Promise<Pick<HealingReport, 'found' | 'answer'>>,
  ): Promise<HealingReport> {
    const startedAt = now().toISOString();
    const result = await work();
    return { healer, startedAt, finishedAt: now().toISOString(), ...result };
  }

  /** Which findings a caller may have put in order, and hear of. */
  async function touchable(caller: Caller): Promise<(finding: Finding) => boolean> {
    if (may(caller, 'healer.heal')) return () => true;
    const apps = (await store.apps()).filter((app) => may(caller, 'healer.heal', { app }));
    const names = new Set(apps.map(({ name }) => name));
    return ({ app }) => app !== null && names.has(app);
  }

  async function runOne(caller: Caller, name: string): Promise<HealingReport> {
    const healer = healers.find((one) => one.name === name);
    if (healer !== undefined) {
      const isTheirs = await touchable(caller);
      return report(name, async () => ({ found: await treat(deps, caller, healer, isTheirs), answer: null }));
    }
    const other = external.find((one) => one.name === name);
    if (other === undefined) throw notFound(name);
    demand(caller, 'healer.heal');
    return report(name, async () => ({ found: [], answer: await externalHealers.call(other, randomHex(12)) }));
  }

  async function quietly(name: string, work: () => Promise<readonly Treatment[]>): Promise<void> {
    try {
      await alone(PLATFORM, name, async () => {
        const found = await work();
        if (found.length > 0) logger.info({ healer: name, found }, 'healed');
      });
    } catch (error) {
      logger.warn({ err: error, healer: name }, 'a healer failed');
    }
  }

  return {
    async list(caller) {
      demand(caller, 'healer.list');
      const own = healers.map(({ name, description }) => ({ name, description, isExternal: false }));
      const others = external.map(({ name }) => ({ name, description: 'runs elsewhere', isExternal: true }));
      return [...own, ...(may(caller, 'healer.heal') ? others : [])].sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    async run(caller, name) {
      demand(caller, 'healer.run');
      const isKnown = [...healers, ...external].some((healer) => healer.name === name);
      if (!isKnown) throw notFound(name);
      return act(caller, 'healer.run', {}, { target: `healer:${name}` }, () =>
        alone(caller, name, () => runOne(caller, name)),
      );
    },

    async recent(caller) {
      demand(caller, 'healer.recent');
      return store.events(MAX_HEALINGS, { action: 'healer.heal' });
    },

    async round(isTimely) {
      for (const healer of healers) {
        const timely = (finding: Finding): boolean => isTimely(healer.name, finding);
        await quietly(healer.name, () => treat(deps, PLATFORM, healer, timely));
      }
      for (const healer of external) {
        await quietly(healer.name, async () => {
          await externalHealers.call(healer, randomHex(12));
          return [];
        });
      }
    },
  };
}

function notFound(name: string): PlatformError {
  return new PlatformError('healer.not_found', `There is no healer "${name.slice(0, 63)}".`, {
    hint: 'tancho healer list names those there are.',
  });
}
