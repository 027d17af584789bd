import { PlatformError } from '../../../domain/errors.ts';
import {
  type Binding,
  type BindingState,
  type BindingSummary,
  type BoundNames,
  GIVEN_NAMES,
} from '../../../domain/services/service.ts';
import type { BindingFilter, ServiceReader, ServiceWriter } from '../../../domain/services/service-store.ts';
import type { Sealer } from '../../../lib/seal.ts';
import { needing } from './faults.ts';
import type { BindingsTable, Scope } from './schema.ts';

const COLUMNS = [
  ...(['id', 'instance', 'app', 'state', 'app_host', 'actor', 'names_json', 'unit_hosts_json'] as const),
  ...(['attempts', 'problem', 'created_at'] as const),
];

export function bindingReader({ db, sealer }: Scope): Pick<ServiceReader, 'binding' | 'bindings' | 'bindingSummaries'> {
  const rows = ({ app, instance }: Partial<BindingFilter> = {}) => {
    let query = db.selectFrom('bindings').select(COLUMNS).orderBy('created_at').orderBy('id');
    if (app !== undefined) query = query.where('app', '=', app);
    if (instance !== undefined) query = query.where('instance', '=', instance);
    return query;
  };
  return {
    async binding(id) {
      const row = await db.selectFrom('bindings').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : opened(row, sealer);
    },
    async bindings(filter) {
      return (await rows(filter).select('sealed_vars').execute()).map((row) => opened(row, sealer));
    },
    async bindingSummaries(filter) {
      return (await rows(filter).execute()).map(fromRow);
    },
  };
}

export function bindingWriter({
  db,
  sealer,
}: Scope): Pick<ServiceWriter, 'insertBinding' | 'updateBinding' | 'deleteBinding'> {
  return {
    async insertBinding(binding) {
      const row: BindingsTable = {
        id: binding.id,
        instance: binding.instance,
        app: binding.app,
        state: binding.state,
        app_host: binding.appHost,
        actor: binding.user,
        sealed_vars: sealer.seal(JSON.stringify(binding.vars), context(binding.id)),
        names_json: JSON.stringify(binding.names),
        unit_hosts_json: JSON.stringify(binding.unitHosts),
        attempts: binding.attempts,
        problem: binding.problem,
        created_at: binding.createdAt,
      };
      const insert = db
        .insertInto('bindings')
        .values(row)
        .onConflict((conflict) => conflict.doNothing());
      const gone = (): PlatformError => new PlatformError('instance.not_found', 'service instance not found');
      const done = await needing(gone, insert.executeTakeFirst());
      if (done.numInsertedOrUpdatedRows !== 1n) {
        throw new PlatformError('binding.exists', 'This app is already bound to this service instance.');
      }
    },
    async updateBinding(id, { state, vars, names, unitHosts, attempts, problem }) {
      const set = {
        ...(state !== undefined && { state }),
        ...(vars !== undefined && { sealed_vars: sealer.seal(JSON.stringify(vars), context(id)) }),
        ...(names !== undefined && { names_json: JSON.stringify(names) }),
        ...(unitHosts !== undefined && { unit_hosts_json: JSON.stringify([...unitHosts].sort()) }),
        ...(attempts !== undefined && { attempts }),
        ...(problem !== undefined && { problem }),
      };
      if (Object.keys(set).length > 0) await db.updateTable('bindings').set(set).where('id', '=', id).execute();
    },
    async deleteBinding(id) {
      await db.deleteFrom('bindings').where('id', '=', id).execute();
    },
  };
}

function context(id: string): string {
  return `binding:${id}`;
}

function opened(row: BindingsTable, sealer: Sealer): Binding {
  const vars = JSON.parse(sealer.open(row.sealed_vars, context(row.id))) as Record<string, string>;
  return { ...fromRow(row), vars };
}

function fromRow(row: Pick<BindingsTable, (typeof COLUMNS)[number]>): BindingSummary {
  return {
    id: row.id,
    instance: row.instance,
    app: row.app,
    state: row.state as BindingState,
    appHost: row.app_host,
    user: row.actor,
    names: { ...GIVEN_NAMES, ...(JSON.parse(row.names_json) as Partial<BoundNames>) },
    unitHosts: JSON.parse(row.unit_hosts_json) as string[],
    createdAt: row.created_at,
    attempts: row.attempts,
    problem: row.problem,
  };
}
