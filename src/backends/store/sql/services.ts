import { PlatformError } from '../../../domain/errors.ts';
import type { Service, ServiceSummary } from '../../../domain/services/service.ts';
import type { ServiceReader, ServiceWriter } from '../../../domain/services/service-store.ts';
import { sqlFault } from '../../../sql/sql-error.ts';
import { needing, serviceNotFound, teamsNotFound } from './faults.ts';
import type { Scope, ServicesTable } from './schema.ts';
import { teamsIn, teamsJson } from './teams-json.ts';

const COLUMNS = ['name', 'kind', 'url', 'username', 'is_restricted', 'created_at'] as const;

export function serviceReader({ db, kind, sealer }: Scope): Pick<ServiceReader, 'service' | 'services' | 'serviceDoc'> {
  const of = { named: 'service_teams.service', row: 'services.name' };
  const rows = () =>
    db
      .selectFrom('services')
      .select(COLUMNS)
      .select([
        teamsJson(kind, { ...of, isOwner: true }).as('owner_teams_json'),
        teamsJson(kind, { ...of, isOwner: false }).as('teams_json'),
      ]);
  return {
    async service(name) {
      const row = await rows().select('sealed_password').where('name', '=', name).executeTakeFirst();
      return row === undefined
        ? null
        : { ...fromRow(row), password: sealer.open(row.sealed_password, context(row.name)) };
    },
    async services() {
      return (await rows().orderBy('name').execute()).map(fromRow);
    },
    async serviceDoc(name) {
      const row = await db.selectFrom('services').select('doc').where('name', '=', name).executeTakeFirst();
      return row?.doc ?? '';
    },
  };
}

export function serviceWriter({
  db,
  sealer,
}: Scope): Pick<ServiceWriter, 'insertService' | 'updateService' | 'deleteService'> {
  const setTeams = async (service: string, teams: readonly string[], isOwner: number): Promise<void> => {
    await db.deleteFrom('service_teams').where('service', '=', service).where('is_owner', '=', isOwner).execute();
    if (teams.length === 0) return;
    const values = [...new Set(teams)].map((team) => ({ service, team, is_owner: isOwner }));
    await needing(() => teamsNotFound(teams), db.insertInto('service_teams').values(values).execute());
  };
  return {
    async insertService(service) {
      const { name } = service;
      const done = await db
        .insertInto('services')
        .values({
          name,
          kind: service.kind,
          url: service.url,
          username: service.username,
          sealed_password: sealer.seal(service.password, context(name)),
          is_restricted: Number(service.isRestricted),
          doc: '',
          created_at: service.createdAt,
        })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (done.numInsertedOrUpdatedRows !== 1n) {
        throw new PlatformError('service.name_taken', `Service with name ${name} already exists.`, {
          hint: 'Choose another id, or update that service.',
        });
      }
      await setTeams(name, service.ownerTeams, 1);
      await setTeams(name, service.teams, 0);
    },
    async updateService(name, change) {
      const known = await db.selectFrom('services').select('name').where('name', '=', name).executeTakeFirst();
      if (known === undefined) throw serviceNotFound();
      const { kind, url, username, password, isRestricted, doc } = change;
      const set = {
        ...(kind !== undefined && { kind }),
        ...(url !== undefined && { url }),
        ...(username !== undefined && { username }),
        ...(password !== undefined && { sealed_password: sealer.seal(password, context(name)) }),
        ...(isRestricted !== undefined && { is_restricted: Number(isRestricted) }),
        ...(doc !== undefined && { doc }),
      };
      if (Object.keys(set).length > 0) await db.updateTable('services').set(set).where('name', '=', name).execute();
      if (change.ownerTeams !== undefined) await setTeams(name, change.ownerTeams, 1);
      if (change.teams !== undefined) await setTeams(name, change.teams, 0);
    },
    async deleteService(name) {
      try {
        await db.deleteFrom('services').where('name', '=', name).execute();
      } catch (thrown) {
        if (sqlFault(thrown) !== 'foreign_key') throw thrown;
        throw new PlatformError('service.has_instances', 'This service cannot be removed because it has instances.', {
          hint: 'Please remove these instances before removing the service.',
        });
      }
    },
  };
}

function context(name: string): string {
  return `service:${name}`;
}

type Row = Pick<ServicesTable, (typeof COLUMNS)[number]> & {
  readonly owner_teams_json: string;
  readonly teams_json: string;
};

function fromRow(row: Row): ServiceSummary {
  return {
    name: row.name,
    kind: row.kind as Service['kind'],
    url: row.url,
    username: row.username,
    ownerTeams: teamsIn(row.owner_teams_json),
    teams: teamsIn(row.teams_json),
    isRestricted: row.is_restricted === 1,
    createdAt: row.created_at,
  };
}
