/**
 * Use cases of links: an app reaches the units of another by a name of its own, beside the way round over the edge. Whoever wants that
 * needs access to both. What it reaches is the app's, not its releases': going back to one changes no link.
 */
import { type Action, demand } from '../access.ts';
import { type Act, demandStill } from '../act.ts';
import { type Caller, callerName } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Journal } from '../logs/journal.ts';
import type { Engines } from '../units/engines.ts';
import { placementFor } from '../pools/placement.ts';
import { replaceUnits } from '../rollouts/replace-units.ts';
import type { Rollouts } from '../rollouts/rollouts.ts';
import type { Routes } from '../routes/routes.ts';
import type { Say } from '../say.ts';
import type { Store, StoreWriter } from '../store.ts';
import type { App } from './app.ts';
import { demandApp } from '../demand-app.ts';
import { linkHost, linkVariable } from './link-names.ts';

const MAX_LINKS = 50;
/** Fewer than there are addresses for them. */
const MAX_LINKED = 200;

export interface Links {
  /**
   * From then on `app` reaches the units of `to`; its own are replaced, for the name and the variable to be there, also when it is linked already.
   * All or nothing. Errors: app.not_found, access.denied, unsupported, input.invalid, unit.failed.
   */
  add(caller: Caller, app: string, to: string, say: Say): Promise<void>;
  /** Errors: app.not_found, access.denied, input.invalid when there is no such link, unit.failed. */
  remove(caller: Caller, app: string, to: string, say: Say): Promise<void>;
}

interface LinksDeps {
  readonly store: Store;
  readonly provisioner: Pick<Engines, 'at'>;
  readonly rollouts: Rollouts;
  readonly routes: Routes;
  readonly journal: Journal;
  readonly act: Act;
  readonly now: () => Date;
}

interface Change {
  readonly action: Extract<Action, 'app.link' | 'app.unlink'>;
  readonly app: string;
  readonly to: string;
  readonly say: Say;
}

export function createLinks(deps: LinksDeps): Links {
  const { store, routes, journal, act, now } = deps;

  /** `next`: what the app is linked to then; null when that is so already. */
  async function change(
    caller: Caller,
    { action, app: name, to, say }: Change,
    next: (app: App, other: App) => Promise<readonly string[] | null>,
  ): Promise<void> {
    const [app, other] = [await demandApp(store, name), await demandApp(store, to)];
    demand(caller, action, { app });
    demand(caller, action, { app: other });
    const lease = `app:${name}`;
    await act(caller, action, { app }, { target: `app:${name}`, lease, detail: to }, async () => {
      const current = await demandApp(store, name);
      const target = await demandApp(store, to);
      await demandStill({ store, now }, caller, action, { app: target });
      const links = await next(current, target);
      if (links === null) {
        // A crash may have kept its units from learning of it.
        say(`${name} is linked to ${to} already.`);
        return replaceRunning(deps, { app: current, by: callerName(caller), say });
      }
      await store.transact(async (tx) => {
        await demandApp(tx, to);
        await tx.updateApp(name, { links });
        const linked = new Set((await tx.apps()).flatMap((one) => one.links));
        if (linked.size > MAX_LINKED) throw tooManyLinked();
      });
      try {
        await routes.publish(name);
        await replaceRunning(deps, { app: current, by: callerName(caller), say });
      } catch (error) {
        await store.transact((tx) => takeBack(tx, { action, app: name, to }));
        await routes.publish(name).catch(() => undefined);
        throw error;
      }
      const [doing, how] = action === 'app.link' ? ['linked it to', 'linked'] : ['unlinked it from', 'unlinked'];
      await journal.note(name, `${callerName(caller)} ${doing} ${to}`);
      await journal.note(to, `${callerName(caller)} ${how} ${name} ${action === 'app.link' ? 'to' : 'from'} it`);
    });
  }

  return {
    async add(caller, app, to, say) {
      await change(caller, { action: 'app.link', app, to, say }, async (current, other) => {
        const { links } = current;
        await demandLinks(deps, current, other);
        if (app === to) {
          throw new PlatformError('input.invalid', 'An app cannot be linked to itself.', {
            hint: 'Its own units reach each other in any case.',
          });
        }
        if (links.includes(to)) return null;
        if (links.length >= MAX_LINKS) {
          throw new PlatformError('input.invalid', `An app can be linked to at most ${MAX_LINKS} others.`, {
            hint: `Unlink one that it does not need: tancho app unlink ${app} <app>`,
          });
        }
        say(`---- ${app} reaches ${to} at http://${linkHost(to)}, which is in ${linkVariable(to)} ----`);
        return [...links, to].sort();
      });
    },

    async remove(caller, app, to, say) {
      await change(caller, { action: 'app.unlink', app, to, say }, async ({ links }) => {
        if (!links.includes(to)) {
          throw new PlatformError('input.invalid', `${app} is not linked to ${to}.`, {
            hint: `It is linked to: ${links.length === 0 ? 'none' : links.join(', ')}.`,
          });
        }
        return links.filter((link) => link !== to);
      });
    },
  };
}

function tooManyLinked(): PlatformError {
  return new PlatformError(
    'quota.exceeded',
    `Apps are linked to ${MAX_LINKED} others already, more cannot be reached.`,
    {
      hint: 'Unlink an app that nobody needs to reach: tancho app unlink <app> <to>',
    },
  );
}

async function demandLinks({ store, provisioner }: LinksDeps, app: App, other: App): Promise<void> {
  const { name, supports, description } = provisioner.at(await placementFor(store, app));
  const theirs = provisioner.at(await placementFor(store, other));
  if (name !== theirs.name) {
    throw new PlatformError('unsupported', `${app.name} runs on the engine ${name}, ${other.name} on ${theirs.name}.`, {
      hint: `Call it at its public address, or move one of them: tancho app update ${app.name} --pool ${other.pool}.`,
    });
  }
  if (supports.links) return;
  throw new PlatformError('unsupported', 'Apps cannot be linked here: that takes a network and files of their own.', {
    hint: `Call the other app at its public address, or ask the operator for another isolation level; this machine has ${description}.`,
  });
}

/** Of the links as they are by then: the other app may have been removed meanwhile. */
async function takeBack(tx: StoreWriter, { action, app, to }: Omit<Change, 'say'>): Promise<void> {
  const now = await tx.app(app);
  const other = await tx.app(to);
  if (now === null) return;
  const links = now.links.filter((link) => link !== to);
  const isThere = other !== null && !other.removing;
  await tx.updateApp(app, { links: action === 'app.unlink' && isThere ? [...links, to] : links });
}

/** Those that run now; what is stopped finds its links when it starts. */
async function replaceRunning(
  { store, rollouts }: LinksDeps,
  { app, by, say }: { readonly app: App; readonly by: string; readonly say: Say },
): Promise<void> {
  if (app.release === null || app.desired === 'stopped') return;
  const release = await store.release(app.name, app.release);
  if (release === null) return;
  say(`---- Restarting the app "${app.name}" ----`);
  await replaceUnits(rollouts, { app, release, reason: 'link', by, say });
}
