/** Use cases of platforms (specification 4.6): those that the builder brings, and those that admins add. */
import type { Act } from '../act.ts';
import { type Action, demand } from '../access.ts';
import { type Caller, isAdmin } from '../caller.ts';
import type { Builder } from '../deploys/builder.ts';
import { PlatformError } from '../errors.ts';
import type { Store, StoreWriter } from '../store.ts';
import { AUTO_PLATFORM, type PlatformInfo } from './platform.ts';
import type { PlatformRecord } from './platform-store.ts';

export interface PlatformView extends PlatformInfo {
  /** No new apps; those that there are go on. */
  readonly isDisabled: boolean;
  /** By an admin. */
  readonly isAdded: boolean;
}

/** Absent: as before. */
interface PlatformChange {
  readonly definition?: string | undefined;
  readonly isDisabled?: boolean | undefined;
}

export interface Platforms {
  /** Sorted by name; the disabled ones for admins only. */
  list(caller: Caller): Promise<PlatformView[]>;
  /** Errors: platform.invalid_name, platform.name_taken, platform.invalid_definition; unsupported for another kind of document. */
  add(caller: Caller, input: { readonly name: string; readonly definition: string }): Promise<PlatformInfo>;
  /**
   * A definition counts from the next deploy of each app on. Errors: platform.unknown, platform.invalid_definition, unsupported;
   * platform.in_use for the definition of one that the builder brings.
   */
  update(caller: Caller, name: string, change: PlatformChange): Promise<void>;
  /** Errors: platform.unknown, platform.in_use (details.apps; also for one that the builder brings). */
  remove(caller: Caller, name: string): Promise<void>;
}

const NAME = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const MAX_DEFINITION_BYTES = 32_768;

export function createPlatforms(deps: { store: Store; builder: Builder; act: Act; now: () => Date }): Platforms {
  const { store, builder, act, now } = deps;

  async function isBuiltIn(name: string): Promise<boolean> {
    return (await builder.platformNames()).includes(name);
  }

  function change<T>(caller: Caller, action: Action, name: string, work: () => Promise<T>): Promise<T> {
    return act(caller, action, {}, { target: `platform:${name.slice(0, 63)}`, lease: 'platforms' }, work);
  }

  /** What is stored of it, or would be. */
  async function demandRecord(tx: Pick<StoreWriter, 'platformRecord'>, name: string): Promise<PlatformRecord> {
    const record = await tx.platformRecord(name);
    if (record !== null) return record;
    if (await isBuiltIn(name)) return { name, definition: null, isDisabled: false, createdAt: now().toISOString() };
    throw new PlatformError('platform.unknown', `There is no platform ${name.slice(0, 63)}.`, {
      hint: 'List them with "tancho platform list".',
    });
  }

  return {
    async list(caller) {
      demand(caller, 'platform.list');
      const [infos, records] = await Promise.all([builder.platforms(), store.platformRecords()]);
      const views = new Map<string, PlatformView>();
      for (const info of infos) views.set(info.name, { ...info, isDisabled: false, isAdded: false });
      for (const { name, definition, isDisabled } of records) {
        if (definition !== null) {
          const info = await builder.describe(name, definition).catch((error: unknown) => unreadable(name, error));
          views.set(name, { ...info, isDisabled, isAdded: true });
          continue;
        }
        const view = views.get(name);
        if (view !== undefined) views.set(name, { ...view, isDisabled });
      }
      const shown = [...views.values()].filter((view) => isAdmin(caller) || !view.isDisabled);
      return shown.sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    add: (caller, { name, definition }) =>
      change(caller, 'platform.add', name, async () => {
        checkName(name);
        if ((await isBuiltIn(name)) || (await store.platformRecord(name)) !== null) {
          throw new PlatformError('platform.name_taken', 'Duplicate platform', {
            hint: `To change it: tancho platform update ${name} <file>`,
          });
        }
        const info = await builder.describe(name, checkSize(definition));
        const record = { name, definition, isDisabled: false, createdAt: now().toISOString() };
        await store.transact((tx) => tx.putPlatform(record));
        return info;
      }),

    update: (caller, name, { definition, isDisabled }) =>
      change(caller, 'platform.update', name, async () => {
        const record = await demandRecord(store, name);
        if (definition !== undefined) {
          if (record.definition === null) throw inUse(name, 'comes with the server: it can be disabled, not changed.');
          await builder.describe(name, checkSize(definition));
        }
        const next = {
          ...record,
          definition: definition ?? record.definition,
          isDisabled: isDisabled ?? record.isDisabled,
        };
        await store.transact((tx) => tx.putPlatform(next));
      }),

    remove: (caller, name) =>
      change(caller, 'platform.remove', name, async () => {
        const { definition } = await demandRecord(store, name);
        if (definition === null) throw inUse(name, 'comes with the server: it can be disabled, not removed.');
        await store.transact(async (tx) => {
          const apps = (await tx.apps()).filter((app) => app.platform === name).map((app) => app.name);
          if (apps.length > 0) throw inUse(name, `cannot be removed, there are apps of it: ${apps.join(', ')}.`, apps);
          await tx.deletePlatform(name);
        });
      }),
  };
}

function checkName(name: string): void {
  if (NAME.test(name) && name !== AUTO_PLATFORM) return;
  throw new PlatformError(
    'platform.invalid_name',
    name === '' ? 'Platform name is required.' : 'Invalid platform name.',
    {
      hint: `Use up to 63 lower-case letters, digits and dashes, starting with a letter; not ${AUTO_PLATFORM}.`,
    },
  );
}

function checkSize(definition: string): string {
  if (definition.trim() === '') {
    throw new PlatformError('platform.invalid_definition', 'The definition of the platform is missing.', {
      hint: 'Send it as the field "definition"; docs/platforms.md says how one is written.',
    });
  }
  if (Buffer.byteLength(definition) <= MAX_DEFINITION_BYTES) return definition;
  throw new PlatformError('platform.invalid_definition', `A definition has at most ${MAX_DEFINITION_BYTES} bytes.`);
}

/** Written for another version of the program: shown, with what is wrong. */
function unreadable(name: string, error: unknown): PlatformInfo {
  if (!(error instanceof PlatformError) || error.code === 'internal') throw error;
  return { name, description: '', ready: false, tools: [], missing: [error.message] };
}

function inUse(name: string, why: string, apps: readonly string[] = []): PlatformError {
  return new PlatformError('platform.in_use', `The platform ${name} ${why}`, {
    ...(apps.length > 0 && { hint: 'Remove these apps first, or give them another platform.', details: { apps } }),
  });
}
