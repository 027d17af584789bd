/** What an action changes of what it is about: looked at around each of its transactions, inside them, so nothing of anybody else's is in it. */
import type { StoreWriter } from '../store.ts';
import type { EventChange } from './events.ts';
import { type Snapshot, snapshotOf } from './snapshots.ts';

const CHANGING: ReadonlySet<string> = new Set<keyof StoreWriter>([
  ...(['insertApp', 'updateApp', 'deleteApp', 'setEnv', 'unsetEnv', 'setAppLimit', 'setUserLimit'] as const),
  ...(['insertTeam', 'deleteTeam', 'addMember', 'removeMember', 'insertUser', 'deleteUser', 'setAdmin'] as const),
  ...(['insertPool', 'deletePool', 'setPoolPublic', 'setPoolTeams'] as const),
  ...(['insertVolume', 'updateVolume', 'deleteVolume', 'insertPlan', 'deletePlan'] as const),
  ...(['insertService', 'updateService', 'deleteService'] as const),
  ...(['insertInstance', 'updateInstance', 'deleteInstance'] as const),
  ...(['putCertificate', 'deleteCertificate', 'putRegistryLogin', 'deleteRegistryLogin'] as const),
  ...(['putPlatform', 'deletePlatform', 'setSetting'] as const),
]);
const MAX_VALUE = 200;
const MAX_CHANGES = 100;

/** One transaction of an action. */
export class ObservedTransaction {
  /** To be used in place of the writer. */
  readonly tx: StoreWriter;
  readonly #writer: StoreWriter;
  readonly #target: string;
  #before: Promise<Snapshot> | null = null;
  /** ID of the deploy that it inserted; '' for none. */
  deploy = '';

  constructor(writer: StoreWriter, target: string) {
    this.#writer = writer;
    this.#target = target;
    this.tx = new Proxy(writer, {
      get: (of, name): unknown => {
        const value: unknown = Reflect.get(of, name);
        if (name !== 'insertDeploy' && !CHANGING.has(String(name))) return value;
        return (...given: unknown[]) => this.#write(String(name), given, value);
      },
    });
  }

  /** What is different now, to be asked for at the end of the transaction. */
  async changes(): Promise<EventChange[]> {
    const before = await this.#before;
    return before === null ? [] : difference(before, await snapshotOf(this.#writer, this.#target));
  }

  async #write(name: string, given: readonly unknown[], method: unknown): Promise<unknown> {
    if (name === 'insertDeploy') this.deploy = idOf(given[0]);
    else await (this.#before ??= snapshotOf(this.#writer, this.#target));
    return typeof method === 'function' ? Reflect.apply(method, this.#writer, given) : undefined;
  }
}

/** Of several transactions one after the other: as it was first, and as it was last. */
export function merged(earlier: readonly EventChange[], later: readonly EventChange[]): EventChange[] {
  const all = new Map(earlier.map((change) => [change.field, change]));
  for (const { field, before, after } of later) {
    all.set(field, { field, before: all.get(field)?.before ?? before, after });
  }
  return [...all.values()].slice(0, MAX_CHANGES);
}

function difference(before: Snapshot, after: Snapshot): EventChange[] {
  const fields = [...new Set([...before.keys(), ...after.keys()])].sort();
  const changed = fields.filter((field) => before.get(field)?.value !== after.get(field)?.value);
  return changed.slice(0, MAX_CHANGES).map((field) => ({
    field,
    before: before.get(field)?.shown.slice(0, MAX_VALUE) ?? null,
    after: after.get(field)?.shown.slice(0, MAX_VALUE) ?? null,
  }));
}

function idOf(deploy: unknown): string {
  return typeof deploy === 'object' && deploy !== null && 'id' in deploy ? String(deploy.id) : '';
}
