/** Where the units of an app are: the addresses that providers are notified of. */
import { hostPort } from '../../lib/host-port.ts';
import type { App } from '../apps/app.ts';
import { servingUnits, type Unit } from '../units/unit.ts';
import type { StoreReader } from '../store.ts';

/** Where the serving units of an app are. */
export async function unitHosts(store: StoreReader, name: string): Promise<string[]> {
  const app = await store.app(name);
  return app === null ? [] : servingHosts(app, await store.units(name));
}

export function servingHosts(app: Pick<App, 'rollout'>, units: readonly Unit[]): string[] {
  return servingUnits(app, units)
    .flatMap(({ state, address }) => (state === 'started' && address !== null ? [hostPort(address)] : []))
    .sort();
}
