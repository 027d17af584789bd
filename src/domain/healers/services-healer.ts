/** What was begun at the providers of services and neither finished nor undone. */
import { PlatformError } from '../errors.ts';
import type { Orphan, Orphans } from '../services/orphans.ts';
import type { Healer } from './healer.ts';

const UNDONE = 'It is undone at the provider.';
const LISTED =
  'It is undone at the provider, and stays listed for some minutes, in case the provider comes to it late.';

export function createServicesHealer(orphans: Pick<Orphans, 'find' | 'undo'>): Healer {
  return {
    name: 'services',
    description: 'undoes what was begun at the provider of a service and not finished',

    async find() {
      const found = await orphans.find();
      return found.map((orphan) => ({ target: targetOf(orphan), app: null, problem: problemOf(orphan), graceMs: 0 }));
    },

    async heal({ target }) {
      const find = async (): Promise<Orphan | undefined> =>
        (await orphans.find()).find((one) => targetOf(one) === target);
      const orphan = await find();
      const failure = orphan === undefined ? null : await orphans.undo(orphan);
      if (failure === null) return (await find()) === undefined ? UNDONE : LISTED;
      throw new PlatformError('healer.failed', failure.message, {
        hint: 'The platform goes on trying. See that the provider answers, or remove the instance with force.',
      });
    },
  };
}

function targetOf({ kind, id }: Orphan): string {
  return `${kind}:${id}`;
}

function problemOf({ kind, service, instance, app, attempts, problem }: Orphan): string {
  const what = kind === 'instance' ? `The instance ${instance}` : `The binding of ${app} to ${instance}`;
  const tried = attempts === 0 ? '' : ` (tried ${attempts} times: ${problem})`;
  return `${what} of the service ${service} was not finished and is to be undone${tried}.`;
}
