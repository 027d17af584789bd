import { PlatformError } from '../../../domain/errors.ts';
import type { Instance, InstanceState, InstanceSummary } from '../../../domain/services/service.ts';
import type { ServiceReader, ServiceWriter } from '../../../domain/services/service-store.ts';
import { needing, serviceNotFound, teamsNotFound } from './faults.ts';
import type { InstancesTable, Scope } from './schema.ts';
import { teamsIn, teamsJson } from './teams-json.ts';

const COLUMNS = [
  ...(['id', 'name', 'service', 'team_owner', 'actor', 'plan', 'description', 'tags_json'] as const),
  ...(['state', 'attempts', 'problem', 'created_at'] as const),
];

export function instanceReader({
  db,
  kind,
  sealer,
}: Scope): Pick<ServiceReader, 'instance' | 'instanceById' | 'instances'> {
  const rows = () =>
    db
      .selectFrom('instances')
      .select(COLUMNS)
      .select(teamsJson(kind, { named: 'instance_teams.instance', row: 'instances.id' }).as('teams_json'));
  const one = async (column: 'id' | 'name', value: string): Promise<Instance | null> => {
    const row = await rows().select('sealed_parameters').where(column, '=', value).executeTakeFirst();
    if (row === undefined) return null;
    const parameters = JSON.parse(sealer.open(row.sealed_parameters, context(row.id))) as Record<string, string>;
    return { ...fromRow(row), parameters };
  };
  return {
    instance: (name) => one('name', name),
    instanceById: (id) => one('id', id),
    async instances(service) {
      const chosen = service === undefined ? rows() : rows().where('service', '=', service);
      return (await chosen.orderBy('name').execute()).map(fromRow);
    },
  };
}

export function instanceWriter({
  db,
  sealer,
}: Scope): Pick<ServiceWriter, 'insertInstance' | 'updateInstance' | 'deleteInstance'> {
  const insertTeams = async (instance: string, teams: readonly string[]): Promise<void> => {
    if (teams.length === 0) return;
    const values = [...new Set(teams)].map((team) => ({ instance, team }));
    await needing(() => teamsNotFound(teams), db.insertInto('instance_teams').values(values).execute());
  };
  return {
    async insertInstance(instance) {
      const row: InstancesTable = {
        id: instance.id,
        name: instance.name,
        service: instance.service,
        team_owner: instance.teamOwner,
        actor: instance.user,
        plan: instance.plan,
        description: instance.description,
        tags_json: JSON.stringify(instance.tags),
        sealed_parameters: sealer.seal(JSON.stringify(instance.parameters), context(instance.id)),
        state: instance.state,
        attempts: instance.attempts,
        problem: instance.problem,
        created_at: instance.createdAt,
      };
      const insert = db
        .insertInto('instances')
        .values(row)
        .onConflict((conflict) => conflict.doNothing());
      const done = await needing(serviceNotFound, insert.executeTakeFirst());
      if (done.numInsertedOrUpdatedRows !== 1n) {
        throw new PlatformError('instance.name_taken', 'instance name already exists.', {
          hint: 'Names of instances are unique over all services; choose another.',
        });
      }
      await insertTeams(instance.id, instance.teams);
    },
    async updateInstance(id, { teams, ...change }) {
      const known = await db.selectFrom('instances').select('id').where('id', '=', id).executeTakeFirst();
      if (known === undefined) return;
      const set = {
        ...(change.teamOwner !== undefined && { team_owner: change.teamOwner }),
        ...(change.plan !== undefined && { plan: change.plan }),
        ...(change.description !== undefined && { description: change.description }),
        ...(change.tags !== undefined && { tags_json: JSON.stringify(change.tags) }),
        ...(change.state !== undefined && { state: change.state }),
        ...(change.attempts !== undefined && { attempts: change.attempts }),
        ...(change.problem !== undefined && { problem: change.problem }),
      };
      if (Object.keys(set).length > 0) await db.updateTable('instances').set(set).where('id', '=', id).execute();
      if (teams === undefined) return;
      await db.deleteFrom('instance_teams').where('instance', '=', id).execute();
      await insertTeams(id, teams);
    },
    async deleteInstance(id) {
      await db.deleteFrom('instances').where('id', '=', id).execute();
    },
  };
}

function context(id: string): string {
  return `instance:${id}`;
}

type Row = Pick<InstancesTable, (typeof COLUMNS)[number]> & { readonly teams_json: string };

function fromRow(row: Row): InstanceSummary {
  return {
    id: row.id,
    name: row.name,
    service: row.service,
    teamOwner: row.team_owner,
    teams: teamsIn(row.teams_json),
    user: row.actor,
    plan: row.plan,
    description: row.description,
    tags: JSON.parse(row.tags_json) as string[],
    state: row.state as InstanceState,
    createdAt: row.created_at,
    attempts: row.attempts,
    problem: row.problem,
  };
}
