import { PlatformError } from '../../../domain/errors.ts';
import type { TeamReader, TeamWriter } from '../../../domain/teams/team-store.ts';
import type { Team } from '../../../domain/teams/team.ts';
import { needing, teamNotFound, userNotFound } from './faults.ts';
import { gathered } from './gathered.ts';
import type { Scope } from './schema.ts';

export function teamReader({ db }: Scope): TeamReader {
  const rows = () =>
    db
      .selectFrom('teams')
      .leftJoin('team_members', 'team_members.team', 'teams.name')
      .select(['teams.name', 'teams.created_at', 'team_members.email'])
      .orderBy('teams.name')
      .orderBy('team_members.email');
  return {
    async team(name) {
      return fromRows(await rows().where('teams.name', '=', name).execute())[0] ?? null;
    },
    async teams(member) {
      if (member === undefined) return fromRows(await rows().execute());
      const own = db.selectFrom('team_members').select('team').where('email', '=', member);
      return fromRows(await rows().where('teams.name', 'in', own).execute());
    },
    async teamsOf(email) {
      const found = await db
        .selectFrom('team_members')
        .select('team')
        .where('email', '=', email)
        .orderBy('team')
        .execute();
      return found.map((row) => row.team);
    },
  };
}

export function teamWriter({ db }: Scope): TeamWriter {
  return {
    async insertTeam(team) {
      const done = await db
        .insertInto('teams')
        .values({ name: team.name, created_at: team.createdAt })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (done.numInsertedOrUpdatedRows !== 1n) {
        throw new PlatformError('team.name_taken', `There is already a team called ${team.name}.`, {
          hint: 'Choose another name.',
        });
      }
      for (const email of new Set(team.members)) {
        const insert = db.insertInto('team_members').values({ team: team.name, email });
        await needing(() => userNotFound(email), insert.execute());
      }
    },
    async deleteTeam(name) {
      const inUse = (): PlatformError =>
        new PlatformError('team.in_use', `Team ${name} still has apps.`, {
          hint: 'Remove the apps, or take their access from the team, first.',
        });
      await needing(inUse, db.deleteFrom('teams').where('name', '=', name).execute());
    },
    async addMember(team, email) {
      const known = await db.selectFrom('teams').select('name').where('name', '=', team).executeTakeFirst();
      if (known === undefined) throw teamNotFound(team);
      const insert = db
        .insertInto('team_members')
        .values({ team, email })
        .onConflict((conflict) => conflict.doNothing());
      const done = await needing(() => userNotFound(email), insert.executeTakeFirst());
      if (done.numInsertedOrUpdatedRows !== 1n) {
        throw new PlatformError('team.member_exists', `User ${email} is already in the team ${team}.`);
      }
    },
    async removeMember(team, email) {
      const done = await db
        .deleteFrom('team_members')
        .where('team', '=', team)
        .where('email', '=', email)
        .executeTakeFirst();
      return done.numDeletedRows > 0n;
    },
  };
}

/** One row per member of a team, teams and members in order. */
function fromRows(rows: readonly { name: string; created_at: string; email: string | null }[]): Team[] {
  return gathered(
    rows,
    ({ name }) => name,
    (row, all) => ({
      name: row.name,
      createdAt: row.created_at,
      members: all.flatMap(({ email }) => email ?? []),
    }),
  );
}
