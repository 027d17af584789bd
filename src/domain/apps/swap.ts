/**
 * Use case: two apps exchange their addresses (specification 4.1, /swap): the host names of the one are answered by the units of
 * the other, from one route table to the next. One transaction stores it, so a crash leaves it done or not done.
 */
import { type Act, demandStill } from '../act.ts';
import { demand } from '../access.ts';
import { type Caller, callerName } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Journal } from '../logs/journal.ts';
import type { Store, StoreReader } from '../store.ts';
import type { App } from './app.ts';
import { demandApp } from '../demand-app.ts';
import type { Routes } from '../routes/routes.ts';
import { servingUnits } from '../units/unit.ts';

interface SwapOptions {
  /** Also when the two differ in platform or number of units. */
  readonly force: boolean;
  /** Only the extra host names change hands; each app keeps its address. */
  readonly cnameOnly: boolean;
}

export interface Swap {
  /** Doing it again undoes it. Errors: app.not_found, access.denied, app.busy, app.swapped, app.swap_mismatch. */
  swap(caller: Caller, app1: unknown, app2: unknown, options: SwapOptions): Promise<void>;
}

interface SwapDeps {
  readonly store: Store;
  readonly routes: Routes;
  readonly journal: Journal;
  readonly act: Act;
  readonly now: () => Date;
}

export function createSwap({ store, routes, journal, act, now }: SwapDeps): Swap {
  async function exchange(name1: string, name2: string, { force, cnameOnly }: SwapOptions): Promise<void> {
    await store.transact(async (tx) => {
      const [one, two] = [await demandApp(tx, name1), await demandApp(tx, name2)];
      demandFree(one, two);
      demandFree(two, one);
      if (!force) await demandMatch(tx, one, two);
      const isSwapped = one.swappedWith !== null;
      const partnerOf = (other: App): Pick<App, 'swappedWith'> => ({ swappedWith: isSwapped ? null : other.name });
      await tx.updateApp(one.name, { cname: two.cname, ...(!cnameOnly && partnerOf(two)) });
      await tx.updateApp(two.name, { cname: one.cname, ...(!cnameOnly && partnerOf(one)) });
    });
  }

  return {
    async swap(caller, app1, app2, options) {
      const name1 = checkName('app1', app1);
      const name2 = checkName('app2', app2);
      const [one, two] = [await demandApp(store, name1), await demandApp(store, name2)];
      demand(caller, 'app.swap', { app: two });
      demand(caller, 'app.swap', { app: one });
      if (name1 === name2) throw new PlatformError('input.invalid', 'An app cannot be swapped with itself.');
      const lease = [`app:${name1}`, `app:${name2}`];
      const detail = options.cnameOnly ? `${name2} (cname only)` : name2;
      await act(caller, 'app.swap', { app: one }, { target: `app:${name1}`, lease, detail }, async () => {
        await demandStill({ store, now }, caller, 'app.swap', { app: two });
        await exchange(name1, name2, options);
        await routes.publishStored(name1, name2);
      });
      await journal.note(name1, `${callerName(caller)} swapped it with ${name2}`);
      await journal.note(name2, `${callerName(caller)} swapped it with ${name1}`);
    },
  };
}

function checkName(parameter: string, name: unknown): string {
  if (typeof name === 'string' && name !== '') return name;
  throw new PlatformError('input.invalid', `Parameter "${parameter}" is mandatory.`, {
    hint: 'Name both apps: app1=<app>&app2=<app>.',
  });
}

function demandFree(app: App, other: App): void {
  if (app.swappedWith === null || app.swappedWith === other.name) return;
  throw new PlatformError('app.swapped', `${app.name} is swapped with "${app.swappedWith}".`, {
    hint: `Swap it back first: tancho app swap ${app.name} ${app.swappedWith}`,
  });
}

async function demandMatch(tx: Pick<StoreReader, 'units'>, one: App, two: App): Promise<void> {
  const hint = 'To swap them all the same, add force=true (--force).';
  if (one.platform !== two.platform) throw new PlatformError('app.swap_mismatch', "platforms don't match", { hint });
  const count = async (app: App): Promise<number> => servingUnits(app, await tx.units(app.name)).length;
  if ((await count(one)) !== (await count(two)))
    throw new PlatformError('app.swap_mismatch', "number of units doesn't match", { hint });
}
