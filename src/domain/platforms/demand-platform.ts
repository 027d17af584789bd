import { PlatformError } from '../errors.ts';
import { AUTO_PLATFORM } from './platform.ts';
import type { PlatformReader } from './platform-store.ts';

interface PlatformSource {
  readonly store: PlatformReader;
  /** Names of what the builder brings; asked for before a transaction, which must not wait for anything but the store. */
  readonly builtIn: readonly string[];
}

/** A platform that a new app may be for, or `auto`. Throws `platform.not_found`, `platform.disabled`. */
export async function demandPlatform({ store, builtIn }: PlatformSource, name: unknown): Promise<string> {
  if (name === AUTO_PLATFORM) return AUTO_PLATFORM;
  const records = await store.platformRecords();
  const disabled = new Set(records.filter((record) => record.isDisabled).map((record) => record.name));
  const added = records.filter((record) => record.definition !== null).map((record) => record.name);
  const names = [...new Set([...builtIn, ...added])].sort();
  const found = names.find((candidate) => candidate === name);
  const hint = `This server has: ${names.filter((each) => !disabled.has(each)).join(', ')}; or ${AUTO_PLATFORM}: what the first push is.`;
  if (found === undefined) throw new PlatformError('platform.not_found', 'Invalid platform', { hint });
  if (!disabled.has(found)) return found;
  throw new PlatformError('platform.disabled', `The platform ${found} takes no new apps.`, { hint });
}
