/** What people do with services, at random: for tests that do it on providers that misbehave. */
import fc from 'fast-check';
import { type ErrorCode, isPlatformError } from '../../src/domain/errors.ts';
import { ANN, type DomainWorld } from './domain-world.ts';

const say = (): void => {};

export type Step =
  | { readonly kind: 'create' | 'remove' | 'force'; readonly instance: string }
  | { readonly kind: 'bind' | 'unbind'; readonly instance: string; readonly app: string }
  | { readonly kind: 'deploy' | 'back' | 'remove app'; readonly app: string };

const instance = fc.constantFrom('one', 'two');
const app = fc.constantFrom('app', 'other');
export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('create' as const), instance }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('bind' as const), instance, app }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('unbind' as const), instance, app }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), instance }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('deploy' as const, 'remove app' as const), app }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('back' as const), app }) },
);
const REFUSALS: readonly ErrorCode[] = [
  'instance.not_found',
  'instance.name_taken',
  'instance.bound',
  'instance.not_ready',
  'binding.exists',
  'binding.not_found',
  'provider.failed',
  'app.not_found',
  'app.busy',
  'app.not_deployed',
  'release.not_found',
];

/** One that was removed comes back first, under the same name. */
async function deployed(world: DomainWorld, name: string): Promise<void> {
  const known = await world.machine.store.app(name);
  if (known === null) await world.createApp(name);
  if (known?.removing !== true) await world.deploy(name);
}

export function operate(world: DomainWorld, one: Step): Promise<unknown> {
  const { instances, bindings } = world.useCases;
  switch (one.kind) {
    case 'create':
      return instances.create(ANN, { name: one.instance, service: 'db' });
    case 'remove':
    case 'force':
      return instances.remove(ANN, one.instance, { force: one.kind === 'force' });
    case 'bind':
      return bindings.bind(ANN, one.instance, one.app, {}, say);
    case 'unbind':
      return bindings.unbind(ANN, one.instance, one.app, {}, say);
    case 'deploy':
      return deployed(world, one.app);
    case 'back':
      return world.useCases.deploys.rollback(ANN, one.app, 'previous', say);
    case 'remove app':
      return one.app === 'other' ? world.remove('other') : Promise.resolve();
  }
}

export function isRefusal(error: unknown): boolean {
  return REFUSALS.some((code) => isPlatformError(error, code));
}
