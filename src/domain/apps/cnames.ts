/** Use cases of extra host names: each belongs to one team, no two apps have the same one, and the routes follow at once. */
import type { Act } from '../act.ts';
import { demand } from '../access.ts';
import type { App } from './app.ts';
import { type Caller, callerName, isAdmin } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Journal } from '../logs/journal.ts';
import type { Settings } from '../settings.ts';
import type { Store } from '../store.ts';
import { checkCname } from './cname.ts';
import { demandApp } from '../demand-app.ts';
import type { Routes } from '../routes/routes.ts';
import type { HostNameProof } from '../certificates/host-name-proof.ts';
import { holderOf } from './host-name-holder.ts';

const MAX_NAMES = 100;

export interface Cnames {
  /** All of them or none. Errors: cname.invalid, cname.taken. */
  add(caller: Caller, app: string, names: readonly unknown[]): Promise<void>;
  /** In place of all there are; none: the app has no extra names any more. Errors: cname.invalid, cname.taken. */
  replace(caller: Caller, app: string, names: readonly unknown[]): Promise<void>;
  /** Throws what replace() would throw before it begins anything; nothing is changed. */
  judgeReplace(caller: Caller, app: string, names: readonly unknown[]): Promise<void>;
  /** All of them or none; without a name the only one there is. Errors: cname.invalid, cname.not_found. */
  remove(caller: Caller, app: string, names: readonly unknown[]): Promise<void>;
}

interface CnamesDeps {
  readonly store: Store;
  readonly routes: Routes;
  readonly journal: Journal;
  readonly act: Act;
  readonly settings: Pick<Settings, 'domain' | 'apiDomain'>;
  readonly proof: Pick<HostNameProof, 'demand'>;
}

type Change = (current: readonly string[], names: readonly string[], others: ReadonlySet<string>) => readonly string[];

interface NameChange {
  readonly action: 'app.cname_add' | 'app.cname_remove';
  readonly given: readonly unknown[];
  readonly apply: Change;
}

export function createCnames({ store, routes, journal, act, settings, proof }: CnamesDeps): Cnames {
  async function allowed(caller: Caller, name: string, { action, given }: NameChange) {
    const app = await demandApp(store, name);
    demand(caller, action, { app });
    // Each is compared with those of all apps, and proven, before they are added to those that there are.
    if (given.length > MAX_NAMES) throw tooMany();
    const names = [...new Set(given.map((cname) => checkCname(cname, settings)))];
    return { app, names, fresh: names.filter((one) => !app.cname.includes(one)) };
  }

  async function demandProven(caller: Caller, app: App, fresh: readonly string[], { action }: NameChange) {
    if (action !== 'app.cname_add') return;
    demandNobodyElse(await store.apps(), app, fresh, caller);
    await proof.demand(caller, app, fresh);
  }

  async function judge(caller: Caller, name: string, change: NameChange): Promise<void> {
    const { app, names, fresh } = await allowed(caller, name, change);
    await demandProven(caller, app, fresh, change);
    change.apply(app.cname, names, namesOfOthers(await store.apps(), name));
  }

  async function change(caller: Caller, name: string, wanted: NameChange): Promise<void> {
    const { app, names, fresh } = await allowed(caller, name, wanted);
    const { action, apply } = wanted;
    const detail = names.join(' ');
    await act(caller, action, { app }, { target: `app:${name}`, lease: `app:${name}`, detail }, async () => {
      await demandProven(caller, app, fresh, wanted);
      await store.transact(async (tx) => {
        // Apps that take the same name at the same time meet in this transaction: leases are per app.
        const apps = await tx.apps();
        const { cname } = await demandApp(tx, name);
        if (action === 'app.cname_add') demandNobodyElse(apps, app, fresh, caller);
        await tx.updateApp(name, { cname: [...apply(cname, names, namesOfOthers(apps, name))].sort() });
      });
      await routes.publishStored(name);
      const doing = action === 'app.cname_add' ? 'added' : 'removed';
      await journal.note(name, `${callerName(caller)} ${doing} the host name ${names.join(', ')}`);
    });
  }

  return {
    add: async (caller, app, names) =>
      change(caller, app, { action: 'app.cname_add', given: demandSome(names), apply: added }),
    replace: (caller, app, names) => change(caller, app, replacement(names)),
    judgeReplace: (caller, app, names) => judge(caller, app, replacement(names)),
    remove: (caller, app, names) => change(caller, app, { action: 'app.cname_remove', given: names, apply: removed }),
  };
}

function replacement(given: readonly unknown[]): NameChange {
  return { action: given.length === 0 ? 'app.cname_remove' : 'app.cname_add', given, apply: replaced };
}

function namesOfOthers(apps: readonly App[], name: string): Set<string> {
  return new Set(apps.filter((other) => other.name !== name).flatMap(({ cname }) => cname));
}

/** Nobody gets a name below or above one of another team's; admins may, for they can settle it. */
function demandNobodyElse(apps: readonly App[], app: App, names: readonly string[], caller: Caller): void {
  if (isAdmin(caller)) return;
  const taken = namesOfOthers(apps, app.name);
  const held = names.some((name) => taken.has(name)) ? null : holderOf(apps, app, names);
  if (held === null) return;
  throw new PlatformError('cname.taken', 'cname already exists!', {
    hint: `${held.held} belongs to another team, so ${held.name} does, too. Ask an admin if that is wrong.`,
  });
}

function demandSome<T>(names: readonly T[]): readonly T[] {
  if (names.length > 0) return names;
  throw new PlatformError('cname.invalid', 'You must provide the cname.', {
    hint: 'Send for example {"cname": ["www.example.com"]}.',
  });
}

function tooMany(): PlatformError {
  return new PlatformError('cname.invalid', `An app may have at most ${MAX_NAMES} extra host names.`);
}

const added: Change = (current, names, others) => {
  const taken = names.find((name) => others.has(name) || current.includes(name));
  if (taken !== undefined) {
    throw new PlatformError('cname.taken', 'cname already exists!', {
      hint: current.includes(taken) ? `${taken} belongs to this app already.` : `${taken} belongs to another app.`,
    });
  }
  if (current.length + names.length > MAX_NAMES) throw tooMany();
  return [...current, ...names];
};

const replaced: Change = (current, names, others) => [
  ...names.filter((name) => current.includes(name)),
  ...added(
    [],
    names.filter((name) => !current.includes(name)),
    others,
  ),
];

const removed: Change = (current, names) => {
  // The oldest clients say only that the name is to go.
  const gone = names.length === 0 && current.length === 1 ? current : demandSome(names);
  const unknown = gone.find((name) => !current.includes(name));
  if (unknown !== undefined) {
    throw new PlatformError('cname.not_found', 'cname not exists!', {
      hint: `The app has: ${current.length === 0 ? 'none' : current.join(', ')}.`,
    });
  }
  return current.filter((name) => !gone.includes(name));
};
