import type { AppReader, AppWriter } from '../../../domain/apps/app-store.ts';
import { listOf } from '../../../sql/list-of.ts';
import { checkTransition } from '../../../domain/units/unit.ts';
import type { Address, Unit, UnitExit, UnitState } from '../../../domain/units/unit.ts';
import { PlatformError } from '../../../domain/errors.ts';
import { readAll } from './changed-groups.ts';
import { appNotFound, needing } from './faults.ts';
import { flat, type Groups, groupText, KnownGroups, rowsOf } from './known-groups.ts';
import type { Scope, UnitsTable } from './schema.ts';

const COLUMNS = [
  ...['id', 'app', 'number', 'process', 'release', 'rollout', 'state', 'address_json', 'handle', 'exits'],
  ...['last_exit_json', 'created_at'],
];

export function knownUnits(): KnownGroups<Unit> {
  return new KnownGroups((text) =>
    rowsOf<UnitsTable>(text, COLUMNS)
      .map(fromRow)
      .sort((one, other) => one.index - other.index),
  );
}

export function unitReader(scope: Scope): Pick<AppReader, 'unit' | 'units' | 'allUnits' | 'unitsByApp'> {
  const { db, kind, known } = scope;
  const groups = (from: Scope['db']) =>
    from
      .selectFrom('units')
      .select(['app as name', groupText(kind, COLUMNS).as('text')])
      .groupBy('app')
      .orderBy('app');
  const unitsByApp = async (teams?: readonly string[]): Promise<Groups<Unit>> => {
    if (teams !== undefined) {
      const shared = db.selectFrom('app_teams').select('app').where('team', 'in', listOf(kind, teams));
      return known.units.of(await groups(db).where('units.app', 'in', shared).execute());
    }
    return readAll(scope, {
      noted: 'changed_units',
      known: known.units,
      read: (from, names) =>
        (names === undefined ? groups(from) : groups(from).where('app', 'in', listOf(kind, names))).execute(),
    });
  };
  return {
    async unit(id) {
      const row = await db.selectFrom('units').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },
    async units(app) {
      const rows = await db.selectFrom('units').selectAll().where('app', '=', app).orderBy('number').execute();
      return rows.map(fromRow);
    },
    async allUnits() {
      return flat(await unitsByApp());
    },
    unitsByApp,
  };
}

/** Units come and go under those who watch them: to change or delete one that is gone does nothing. */
export function unitWriter({ db }: Scope): Pick<AppWriter, 'insertUnit' | 'updateUnit' | 'deleteUnit'> {
  return {
    async insertUnit(unit) {
      const insert = db
        .insertInto('units')
        .values({ ...toRow(unit), id: unit.id, app: unit.app, number: unit.index, created_at: unit.createdAt })
        .onConflict((conflict) => conflict.doNothing());
      const done = await needing(() => appNotFound(unit.app), insert.executeTakeFirst());
      if (done.numInsertedOrUpdatedRows !== 1n) {
        throw new PlatformError('app.busy', `There is already a unit ${unit.app}/${unit.index}.`, {
          hint: 'Somebody else changed the app at the same time; try again.',
        });
      }
    },
    async updateUnit(id, change) {
      if (Object.keys(change).length === 0) return;
      if (change.state !== undefined) {
        const now = await db.selectFrom('units').select('state').where('id', '=', id).executeTakeFirst();
        if (now === undefined) return;
        checkTransition(now.state as UnitState, change.state);
      }
      await db.updateTable('units').set(toRow(change)).where('id', '=', id).execute();
    },
    async deleteUnit(id) {
      await db.deleteFrom('units').where('id', '=', id).execute();
    },
  };
}

type Changeable = Omit<Unit, 'id' | 'app' | 'index' | 'createdAt'>;
type ChangeableColumns = Omit<UnitsTable, 'id' | 'app' | 'number' | 'created_at'>;

function toRow(unit: Changeable): ChangeableColumns;
function toRow(change: Partial<Changeable>): { [C in keyof ChangeableColumns]: ChangeableColumns[C] | undefined };
function toRow(unit: Partial<Changeable>): { [C in keyof ChangeableColumns]: ChangeableColumns[C] | undefined } {
  return {
    process: unit.process,
    release: unit.release,
    rollout: unit.rollout,
    state: unit.state,
    address_json: unit.address && JSON.stringify(unit.address),
    handle: unit.handle,
    exits: unit.exits,
    last_exit_json: unit.lastExit && JSON.stringify(unit.lastExit),
  };
}

function fromRow(row: UnitsTable): Unit {
  return {
    id: row.id,
    app: row.app,
    index: row.number,
    process: row.process,
    release: row.release,
    rollout: row.rollout,
    state: row.state as UnitState,
    address: row.address_json === null ? null : (JSON.parse(row.address_json) as Address),
    handle: row.handle,
    exits: row.exits,
    lastExit: row.last_exit_json === null ? null : (JSON.parse(row.last_exit_json) as UnitExit),
    createdAt: row.created_at,
  };
}
