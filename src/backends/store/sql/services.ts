import { PlatformError } from '../../../domain/errors.ts';
import type { Service } from '../../../domain/services/service.ts';
import type { ServiceReader, ServiceWriter } from '../../../domain/services/service-store.ts';
import { sqlFault } from '../../../sql/sql-error.ts';
import { needing, serviceNotFound, teamsNotFound } from './faults.ts';
import { gathered, teamsOf } from './gathered.ts';
import type { Scope, ServicesTable } from './schema.ts';

export function serviceReader({ db, sealer }: Scope): Pick<ServiceReader, 'service' | 'services'> {
  const rows = () =>
    db
      .selectFrom('services')
      .leftJoin('service_teams', 'service_teams.service', 'services.name')
      .selectAll('services')
      .select(['service_teams.team', 'service_teams.is_owner'])
      .orderBy('services.name')
      .orderBy('service_teams.team');
  const open = (row: ServicesTable): string => sealer.open(row.sealed_password, context(row.name));
  return {
    async service(name) {
      return fromRows(await rows().where('services.name', '=', name).execute(), open)[0] ?? null;
    },
    async services() {
      return fromRows(await rows().execute(), open);
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
          doc: service.doc,
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

type Row = ServicesTable & { readonly team: string | null; readonly is_owner: number | null };

/** One row per team of a service, services and teams in order. */
function fromRows(rows: readonly Row[], open: (row: ServicesTable) => string): Service[] {
  return gathered(
    rows,
    ({ name }) => name,
    (row, all) => ({
      name: row.name,
      kind: row.kind as Service['kind'],
      url: row.url,
      username: row.username,
      password: open(row),
      ownerTeams: teamsOf(all.filter((one) => one.is_owner === 1)),
      teams: teamsOf(all.filter((one) => one.is_owner !== 1)),
      isRestricted: row.is_restricted === 1,
      doc: row.doc,
      createdAt: row.created_at,
    }),
  );
}
