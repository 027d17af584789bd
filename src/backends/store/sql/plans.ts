import { PlatformError } from '../../../domain/errors.ts';
import type { PlanReader, PlanWriter } from '../../../domain/plans/plan-store.ts';
import type { Plan } from '../../../domain/plans/plan.ts';
import type { PlansTable, Scope } from './schema.ts';

export function planReader({ db }: Scope): PlanReader {
  return {
    async plan(name) {
      const row = await db.selectFrom('plans').selectAll().where('name', '=', name).executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },
    async plans() {
      const rows = await db.selectFrom('plans').selectAll().orderBy('name').execute();
      return rows.map(fromRow);
    },
  };
}

export function planWriter({ db }: Scope): PlanWriter {
  return {
    async insertPlan(plan) {
      if (plan.isDefault) await db.updateTable('plans').set({ is_default: 0 }).execute();
      const row: PlansTable = {
        name: plan.name,
        memory_bytes: plan.memoryBytes,
        cpu_millis: plan.cpuMillis,
        cpu_share: plan.cpuShare,
        disk_bytes: plan.diskBytes,
        is_default: Number(plan.isDefault),
        created_at: plan.createdAt,
      };
      const insert = db.insertInto('plans').values(row);
      const done = await insert.onConflict((conflict) => conflict.doNothing()).executeTakeFirst();
      if (done.numInsertedOrUpdatedRows === 1n) return;
      throw new PlatformError('plan.name_taken', 'plan already exists', { hint: 'Choose another name.' });
    },
    async deletePlan(name) {
      await db.deleteFrom('plans').where('name', '=', name).execute();
    },
  };
}

function fromRow(row: PlansTable): Plan {
  return {
    name: row.name,
    memoryBytes: Number(row.memory_bytes),
    cpuMillis: row.cpu_millis,
    cpuShare: row.cpu_share,
    diskBytes: Number(row.disk_bytes),
    isDefault: row.is_default === 1,
    createdAt: row.created_at,
  };
}
