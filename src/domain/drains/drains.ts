/** Use cases of drains: where the lines of an app, or of all apps, are sent on to. */
import { randomHex } from '../../lib/ids.ts';
import type { Act } from '../act.ts';
import { type Action, demand, may, type Subject } from '../access.ts';
import { type Caller, callerName } from '../caller.ts';
import { demandApp } from '../demand-app.ts';
import { PlatformError } from '../errors.ts';
import type { DrainCursor } from '../logs/drain-cursors.ts';
import type { LogStore } from '../logs/log-store.ts';
import type { Store } from '../store.ts';
import { type DrainDeliveries, ownLine } from './deliveries.ts';
import {
  checkTarget,
  type Drain,
  drainNotFound,
  type DrainTarget,
  MAX_DRAINS,
  receiverOf,
  shownReceiver,
  type TargetInput,
} from './drain.ts';
import { DeliveryFailure, type DrainSender } from './drain-sender.ts';

export interface DrainView {
  readonly drain: Drain;
  /** Null in the moment before it begins. */
  readonly cursor: DrainCursor | null;
  /** Lines that the receiver does not have yet. */
  readonly waiting: number;
}

/** Absent fields stay as they are. */
interface DrainChange {
  readonly url?: string;
  readonly format?: string;
  /** All of them anew. */
  readonly headers?: TargetInput['headers'];
}

export interface DrainTest {
  readonly isDelivered: boolean;
  /** What the receiver answered, or what went wrong: one line. */
  readonly answer: string;
}

export interface Drains {
  /** `app` '': all that the caller may see. */
  list(caller: Caller, app: string): Promise<DrainView[]>;
  info(caller: Caller, id: string): Promise<DrainView>;
  /** Of what is logged from now on. `app` '': of all apps. Errors: drain.invalid, quota.exceeded, app.not_found. */
  add(caller: Caller, app: string, target: TargetInput): Promise<DrainView>;
  /** Sends one line and waits for the answer; its cursor does not move. */
  test(caller: Caller, id: string): Promise<DrainTest>;
  /** Errors: drain.invalid, also for another receiver without saying which headers that one is to have. */
  update(caller: Caller, id: string, change: DrainChange): Promise<DrainView>;
  remove(caller: Caller, id: string): Promise<void>;
}

interface DrainsDeps {
  readonly store: Store;
  readonly logStore: LogStore;
  readonly deliveries: Pick<DrainDeliveries, 'changed'>;
  readonly sender: DrainSender;
  readonly act: Act;
  readonly now: () => Date;
}

const TEST_LINE = 'This line tests a drain.';

export function createDrains(deps: DrainsDeps): Drains {
  const { store, logStore, deliveries, sender, act, now } = deps;

  async function subjectOf(app: string): Promise<Subject> {
    return app === '' ? {} : { app: await demandApp(store, app) };
  }

  async function demandDrain(id: string): Promise<Drain> {
    const drain = await store.drain(id);
    if (drain === null) throw drainNotFound(id);
    return drain;
  }

  async function viewOf(drain: Drain): Promise<DrainView> {
    const [cursor, waiting] = await Promise.all([logStore.drainCursor(drain.id), logStore.drainLag(drain.id)]);
    return { drain, cursor, waiting };
  }

  async function doing<T>(caller: Caller, action: Action, id: string, work: (drain: Drain) => Promise<T>): Promise<T> {
    const drain = await demandDrain(id);
    const detail = `${drain.id} to ${shownReceiver(drain.target)}`;
    const options = { target: targetOf(drain.app), lease: `drain:${id}`, detail };
    return act(caller, action, await subjectOf(drain.app), options, async () => work(await demandDrain(id)));
  }

  return {
    async list(caller, app) {
      const drains = await store.drains();
      if (app !== '') {
        demand(caller, 'drain.list', await subjectOf(app));
        return Promise.all(drains.filter((drain) => drain.app === app).map(viewOf));
      }
      const apps = new Map((await store.apps()).map((one) => [one.name, one]));
      const isSeen = (drain: Drain): boolean => {
        const owner = apps.get(drain.app);
        return may(caller, 'drain.list', owner === undefined ? {} : { app: owner });
      };
      return Promise.all(drains.filter(isSeen).map(viewOf));
    },

    async info(caller, id) {
      const drain = await demandDrain(id);
      demand(caller, 'drain.list', await subjectOf(drain.app));
      return viewOf(drain);
    },

    async add(caller, app, input) {
      const subject = await subjectOf(app);
      const options = { target: targetOf(app), lease: `drains:${app}` };
      return act(caller, 'drain.add', subject, options, async () => {
        const target = checkTarget(input);
        const drain = { id: randomHex(8), app, target, by: callerName(caller), createdAt: now().toISOString() };
        await store.transact(async (tx) => {
          if (app !== '') await demandApp(tx, app);
          const others = (await tx.drains()).filter((other) => other.app === app);
          if (others.length >= MAX_DRAINS) throw tooMany();
          await tx.insertDrain(drain);
        });
        await deliveries.changed(drain.id);
        return viewOf(drain);
      });
    },

    async test(caller, id) {
      const drain = await demandDrain(id);
      const detail = `${id} to ${shownReceiver(drain.target)}`;
      const subject = await subjectOf(drain.app);
      return act(caller, 'drain.test', subject, { target: targetOf(drain.app), detail }, async () => {
        const line = ownLine(drain.app, TEST_LINE, now().toISOString());
        try {
          return { isDelivered: true, answer: await sender.send(drain.target, [line], AbortSignal.timeout(60_000)) };
        } catch (error) {
          if (error instanceof DeliveryFailure) return { isDelivered: false, answer: error.message };
          throw error;
        }
      });
    },

    async update(caller, id, change) {
      return doing(caller, 'drain.update', id, async (drain) => {
        const target = changed(drain.target, change);
        await store.transact((tx) => tx.setDrainTarget(id, target));
        await deliveries.changed(id);
        return viewOf({ ...drain, target });
      });
    },

    async remove(caller, id) {
      await doing(caller, 'drain.remove', id, async () => {
        await store.transact((tx) => tx.deleteDrain(id));
        await deliveries.changed(id);
      });
    },
  };
}

function changed(before: DrainTarget, change: DrainChange): DrainTarget {
  const { url = before.url, headers = before.headers } = change;
  const isSameKind = url.startsWith('syslog') === (before.format === 'syslog');
  const format = change.format ?? (isSameKind ? before.format : '');
  const target = checkTarget({ url, format, headers });
  const hasSecrets = Object.keys(before.headers).length > 0;
  if (change.headers === undefined && hasSecrets && receiverOf(target) !== receiverOf(before)) {
    throw new PlatformError(
      'drain.invalid',
      `The headers were given for ${receiverOf(before)}, and go to nobody else.`,
      {
        hint: 'Give those of the new receiver with its address, or none: --header, --no-headers.',
      },
    );
  }
  return target;
}

function targetOf(app: string): string {
  return app === '' ? 'drains' : `app:${app}`;
}

function tooMany(): PlatformError {
  return new PlatformError('quota.exceeded', `There are ${MAX_DRAINS} drains already.`, {
    hint: 'Remove one that is not needed: tancho drain list',
  });
}
