import type { Builder } from '../deploys/builder.ts';
import { PlatformError } from '../errors.ts';
import { AUTO_PLATFORM } from './platform.ts';
import type { PlatformReader } from './platform-store.ts';

interface PlatformSource {
  readonly store: PlatformReader;
  readonly builder: Pick<Builder, 'platforms'>;
}

/** What is built in, asked once: for the judgement in a transaction, which must not wait for anything but the store. */
export async function builtInNow(builder: Pick<Builder, 'platforms'>): Promise<Pick<Builder, 'platforms'>> {
  const builtIn = await builder.platforms();
  return { platforms: () => Promise.resolve(builtIn) };
}

/** A platform that a new app may be for, or `auto`. Throws `platform.not_found`, `platform.disabled`. */
export async function demandPlatform({ store, builder }: PlatformSource, name: unknown): Promise<string> {
  if (name === AUTO_PLATFORM) return AUTO_PLATFORM;
  const [builtIn, records] = await Promise.all([builder.platforms(), store.platformRecords()]);
  const disabled = new Set(records.filter((record) => record.isDisabled).map((record) => record.name));
  const added = records.filter((record) => record.definition !== null).map((record) => record.name);
  const names = [...new Set([...builtIn.map((platform) => platform.name), ...added])].sort();
  const found = names.find((candidate) => candidate === name);
  const hint = `This server has: ${names.filter((each) => !disabled.has(each)).join(', ')}; or ${AUTO_PLATFORM}: what the first push is.`;
  if (found === undefined) throw new PlatformError('platform.not_found', 'Invalid platform', { hint });
  if (!disabled.has(found)) return found;
  throw new PlatformError('platform.disabled', `The platform ${found} takes no new apps.`, { hint });
}
