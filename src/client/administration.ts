/** Plans and platforms: what there is, and for admins the changes of that. */
import type { Progress } from './calls.ts';
import type { Requests } from './requests.ts';
import type * as shapes from './shapes.ts';

export interface PlansClient {
  list(): Promise<readonly shapes.Plan[]>;
  create(plan: shapes.NewPlan): Promise<void>;
  remove(name: string): Promise<void>;
  /** The routers there are. */
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

export function plansClient({ request }: Requests): PlansClient {
  return {
    list: () => request('plans.list'),
    create: (plan) => request('plans.create', { body: plan }),
    remove: (plan) => request('plans.remove', { params: { plan } }),
    routers: () => request('plans.routers'),
  };
}

export function platformsClient({ request, progress: during }: Requests): PlatformsClient {
  return {
    list: () => request('platforms.list'),
    add: (name, definition, progress = {}) => during('platforms.add', { query: { name }, body: definition }, progress),
    update: (platform, definition, progress = {}) =>
      during('platforms.update', { params: { platform }, body: definition }, progress),
    setDisabled: (platform, isDisabled) =>
      during('platforms.update', { params: { platform }, query: { disabled: String(isDisabled) } }, {}),
    remove: (platform) => request('platforms.remove', { params: { platform } }),
  };
}
