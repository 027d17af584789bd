/** A platform with many apps, none of which was deployed. */
import type { World } from '../test/support/world.ts';

export const APPS = 1_000;
const AT_ONCE = 4;

/** `pool`: absent, the one that every platform has. */
export async function createApps(world: World, token: string, count: number = APPS, pool?: string): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => `listed-${index}`);
  const worker = async (): Promise<void> => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) await createApp(world, token, name, pool);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

export async function createApp(world: World, token: string, name: string, pool?: string): Promise<void> {
  const body = JSON.stringify({ name, platform: 'nodejs', ...(pool !== undefined && { pool }) });
  const answer = await world.api('POST', '/apps', { token, body });
  if (answer.status !== 200) throw new Error(`creating ${name}: ${answer.status} ${answer.text}`);
}
