/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { LogEntry } from '../../../../domain/logs/entry.ts';
import { packBlock } from '../block.ts';
import type { DatabaseKind } from '../../../../sql/database.ts';

const PAGE = 1_000;

export function blocks(kind: DatabaseKind): Migration {
  return {
    async up(db: Kysely<unknown>) {
      const bytes = kind === 'postgres' ? 'bytea' : 'blob';
      const statements = [
        // What is packed is last, so that reading the rest of a row does not read it.
        `create table log_blocks (
          app text not null,
          first_seq bigint not null,
          last_seq bigint not null,
          first_at text not null,
          last_at text not null,
          entries integer not null,
          bytes bigint not null,
          stored bigint not null,
          is_sealed integer not null,
          streams text not null,
          filter ${bytes} not null,
          packed ${bytes} not null,
          primary key (app, first_seq))`,
        'create unique index log_blocks_by_end on log_blocks (app, last_seq)',
        // Drains of all apps read in this order.
        'create index log_blocks_by_last_seq on log_blocks (last_seq)',
        ...(kind === 'postgres' ? ['alter table log_blocks alter column packed set storage external'] : []),
        ...['stored', 'open_blocks', 'open_bytes', 'removed_entries', 'removed_seq'].map(
          (name) => `alter table log_apps add column ${name} bigint not null default 0`,
        ),
        `alter table log_apps add column removed_at text not null default ''`,
      ];
      for (const statement of statements) await sql.raw(statement).execute(db);
      const { rows } = await sql<{ app: string }>`select app from log_apps order by app`.execute(db);
      for (const { app } of rows) await pack(db, app);
      await sql`drop table log_entries`.execute(db);
    },
  };
}

async function pack(db: Kysely<unknown>, app: string): Promise<void> {
  for (let after = 0; ;) {
    const { rows } = await sql<LogEntry>`
      select seq, at, app, source, unit, unit_id as "unitId", release, message
      from log_entries where app = ${app} and seq > ${after} order by seq limit ${PAGE}`.execute(db);
    if (rows.length === 0) return;
    const block = packBlock(rows);
    const stored = block.packed.length;
    await sql`
      insert into log_blocks (app, first_seq, last_seq, first_at, last_at, entries, bytes, stored, is_sealed, streams, filter, packed)
      values (${app}, ${block.firstSeq}, ${block.lastSeq}, ${block.firstAt}, ${block.lastAt}, ${block.entries}, ${block.bytes},
        ${stored}, 1, ${JSON.stringify(block.streams)}, ${Buffer.alloc(0)}, ${block.packed})`.execute(db);
    await sql`update log_apps set stored = stored + ${stored} where app = ${app}`.execute(db);
    after = block.lastSeq;
  }
}
