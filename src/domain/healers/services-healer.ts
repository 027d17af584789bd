/** What was begun at the providers of services and neither finished nor undone. */
import { PlatformError } from '../errors.ts';
import type { Orphan, Orphans } from '../services/orphans.ts';
import type { Healer } from './healer.ts';

const UNDONE = 'It is undone at the provider.';
const LISTED =
  'It is undone at the provider, and stays listed for some minutes, in case the provider comes to it late.';

/** So long nothing more is asked of a provider that has let one of them wait in vain: healers run one at a time, and others have to have their turn. */
const SILENT_MS = 60_000;

export function createServicesHealer(orphans: Pick<Orphans, 'find' | 'undo'>): Healer {
  /** By service, until when its provider is not asked. */
  const silent = new Map<string, number>();
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
      if (orphan === undefined) return UNDONE;
      const { service } = orphan;
      if ((silent.get(service) ?? 0) > performance.now())
        throw failed(`The provider of ${service} did not answer when it was asked about another one.`);
      const failure = await orphans.undo(orphan);
      if (failure?.code === 'timeout') silent.set(service, performance.now() + SILENT_MS);
      if (failure !== null) throw failed(failure.message);
      return (await find()) === undefined ? UNDONE : LISTED;
    },
  };
}

function failed(message: string): PlatformError {
  return new PlatformError('healer.failed', message, {
    hint: 'The platform goes on trying. See that the provider answers, or remove the instance with force.',
  });
}

function targetOf({ kind, id }: Orphan): string {
  return `${kind}:${id}`;
}

function problemOf({ kind, service, instance, app, attempts, problem }: Orphan): string {
  const what = kind === 'instance' ? `The instance ${instance}` : `The binding of ${app} to ${instance}`;
  const tried = attempts === 0 ? '' : ` (tried ${attempts} times: ${problem})`;
  return `${what} of the service ${service} was not finished and is to be undone${tried}.`;
}
