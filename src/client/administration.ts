/** Plans and platforms: what there is, and for admins the changes of that. */
import { type Calls, path, type Progress } from './calls.ts';
import type * as shapes from './shapes.ts';

export interface PlansClient {
  list(): Promise<readonly shapes.Plan[]>;
  create(plan: shapes.NewPlan): Promise<void>;
  remove(name: string): Promise<void>;
  /** Names of the routers there are. */
  routers(): Promise<readonly shapes.RouterShape[]>;
}

export interface PlatformsClient {
  list(): Promise<readonly shapes.Platform[]>;
  /** `definition`: as docs/platforms.md describes it. */
  add(name: string, definition: string, progress?: Progress): Promise<void>;
  update(name: string, definition: string, progress?: Progress): Promise<void>;
  /** Whether new apps may be made for it. */
  setDisabled(name: string, isDisabled: boolean): Promise<void>;
  remove(name: string): Promise<void>;
}

export function plansClient(calls: Calls): PlansClient {
  return {
    list: () => calls.json<readonly shapes.Plan[]>('GET', '/plans', {}, []),
    async create(plan) {
      await calls.done('POST', '/plans', { json: plan });
    },
    async remove(name) {
      await calls.done('DELETE', path`/plans/${name}`);
    },
    routers: () => calls.json<readonly shapes.RouterShape[]>('GET', '/plans/routers', {}, []),
  };
}

export function platformsClient(calls: Calls): PlatformsClient {
  return {
    list: () => calls.json<readonly shapes.Platform[]>('GET', '/platforms', {}, []),
    add: (name, definition, progress = {}) =>
      calls.progress('POST', '/platforms', { json: { name, definition } }, progress),
    update: (name, definition, progress = {}) =>
      calls.progress('PUT', path`/platforms/${name}`, { json: { definition } }, progress),
    setDisabled: (name, disabled) => calls.progress('PUT', path`/platforms/${name}`, { json: { disabled } }, {}),
    async remove(name) {
      await calls.done('DELETE', path`/platforms/${name}`);
    },
  };
}
