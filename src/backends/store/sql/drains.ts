import type { Drain, DrainTarget } from '../../../domain/drains/drain.ts';
import type { DrainReader, DrainWriter } from '../../../domain/drains/drain-store.ts';
import type { DrainsTable, Scope } from './schema.ts';

export function drainReader({ db, sealer }: Scope): DrainReader {
  const fromRow = ({ id, app, sealed_target, actor, created_at }: DrainsTable): Drain => ({
    id,
    app,
    target: JSON.parse(sealer.open(sealed_target, contextOf(id))) as DrainTarget,
    by: actor,
    createdAt: created_at,
  });
  return {
    async drains() {
      const all = db.selectFrom('drains').selectAll().orderBy('app').orderBy('created_at').orderBy('id');
      return (await all.execute()).map(fromRow);
    },
    async drain(id) {
      const row = await db.selectFrom('drains').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },
  };
}

export function drainWriter({ db, sealer }: Scope): DrainWriter {
  const sealed = (id: string, target: DrainTarget): string => sealer.seal(JSON.stringify(target), contextOf(id));
  return {
    async insertDrain({ id, app, target, by, createdAt }) {
      const row: DrainsTable = { id, app, sealed_target: sealed(id, target), actor: by, created_at: createdAt };
      await db.insertInto('drains').values(row).execute();
    },
    async setDrainTarget(id, target) {
      await db
        .updateTable('drains')
        .set({ sealed_target: sealed(id, target) })
        .where('id', '=', id)
        .execute();
    },
    async deleteDrain(id) {
      await db.deleteFrom('drains').where('id', '=', id).execute();
    },
    async deleteDrainsOf(app) {
      await db.deleteFrom('drains').where('app', '=', app).execute();
    },
  };
}

function contextOf(id: string): string {
  return `drain:${id}`;
}
