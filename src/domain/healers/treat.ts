/** Runs one healer: looks, and puts in order what it finds, one after the other, with the lease of what it touches. */
import type { Logger } from '../../lib/logger.ts';
import type { Act } from '../act.ts';
import { type Caller, callerName } from '../caller.ts';
import { isPlatformError, toPlatformError } from '../errors.ts';
import type { Leases } from '../leases.ts';
import type { Store } from '../store.ts';
import type { Finding, Healer, Treatment } from './healer.ts';

/** Whoever has the lease longer is at work. */
const LEASE_WAIT_MS = 250;
/** More are healed by the next run. */
const MAX_FINDINGS = 200;

interface TreatDeps {
  readonly store: Pick<Store, 'app'>;
  readonly act: Act;
  readonly leases: Leases;
  readonly logger: Logger;
}

/** What an operation is busy with is no finding. `isMeant` false: left alone, and not reported. */
export async function treat(
  deps: TreatDeps,
  caller: Caller,
  healer: Healer,
  isMeant: (finding: Finding) => boolean,
): Promise<Treatment[]> {
  const { leases } = deps;
  const isIdle = ({ app }: Finding): boolean => app === null || !leases.isHeld(`app:${app}`);
  const found = (await healer.find()).filter(isIdle).filter(isMeant).slice(0, MAX_FINDINGS);
  const treatments: Treatment[] = [];
  for (const finding of found) {
    const { target, problem } = finding;
    treatments.push({ target, problem, ...(await treatOne(deps, caller, healer, finding)) });
  }
  return treatments;
}

async function treatOne(
  deps: TreatDeps,
  caller: Caller,
  healer: Healer,
  finding: Finding,
): Promise<Pick<Treatment, 'outcome' | 'action'>> {
  const { act, leases, logger, store } = deps;
  const { target, app, problem } = finding;

  async function work(): Promise<Pick<Treatment, 'outcome' | 'action'>> {
    const isStill = (await healer.find(finding)).some((other) => other.target === target);
    if (!isStill) return { outcome: 'left', action: 'It was in order by then.' };
    const detail = `${healer.name}: ${problem}`.slice(0, 500);
    const known = app === null ? null : await store.app(app);
    const subject = known === null ? {} : { app: known };
    const action = await act(caller, 'healer.heal', subject, { target, detail }, () => healer.heal(finding));
    return { outcome: 'healed', action };
  }

  try {
    if (app === null) return await work();
    const holder = `the healer "${healer.name}" for ${callerName(caller)}`;
    return await leases.hold(`app:${app}`, { waitMs: LEASE_WAIT_MS, holder }, work);
  } catch (thrown) {
    if (isPlatformError(thrown, 'app.busy')) return { outcome: 'left', action: toPlatformError(thrown).message };
    const error = toPlatformError(thrown);
    logger.warn({ err: thrown, target, healer: healer.name }, 'healing failed');
    return { outcome: 'failed', action: error.message };
  }
}
