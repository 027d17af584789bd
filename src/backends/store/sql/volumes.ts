import { PlatformError } from '../../../domain/errors.ts';
import type { Volume } from '../../../domain/volumes/volume.ts';
import type { VolumeReader, VolumeWriter } from '../../../domain/volumes/volume-store.ts';
import { appNotFound, needing } from './faults.ts';
import type { Scope, VolumesTable } from './schema.ts';

export function volumeReader({ db }: Scope): VolumeReader {
  return {
    async volumes(app) {
      const all = db.selectFrom('volumes').selectAll().orderBy('app').orderBy('name');
      return (await (app === undefined ? all : all.where('app', '=', app)).execute()).map(fromRow);
    },
    async volume(app, name) {
      const found = db.selectFrom('volumes').selectAll().where('app', '=', app).where('name', '=', name);
      const row = await found.executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },
  };
}

export function volumeWriter({ db }: Scope): VolumeWriter {
  return {
    async insertVolume({ app, name, maxBytes, isSingle, state, by, createdAt }) {
      const row = {
        app,
        name,
        max_bytes: maxBytes,
        is_single: Number(isSingle),
        state,
        actor: by,
        created_at: createdAt,
      };
      const insert = db
        .insertInto('volumes')
        .values(row)
        .onConflict((conflict) => conflict.doNothing());
      const done = await needing(() => appNotFound(app), insert.executeTakeFirst());
      if (done.numInsertedOrUpdatedRows === 1n) return;
      throw new PlatformError('volume.name_taken', `The app ${app} has a volume called ${name} already.`, {
        hint: 'Choose another name, or use that one.',
      });
    },
    async updateVolume(app, name, { maxBytes, isSingle, state }) {
      const set = {
        ...(maxBytes !== undefined && { max_bytes: maxBytes }),
        ...(isSingle !== undefined && { is_single: Number(isSingle) }),
        ...(state !== undefined && { state }),
      };
      await db.updateTable('volumes').set(set).where('app', '=', app).where('name', '=', name).execute();
    },
    async deleteVolume(app, name) {
      await db.deleteFrom('volumes').where('app', '=', app).where('name', '=', name).execute();
    },
  };
}

function fromRow(row: VolumesTable): Volume {
  return {
    app: row.app,
    name: row.name,
    maxBytes: Number(row.max_bytes),
    isSingle: row.is_single === 1,
    state: row.state as Volume['state'],
    by: row.actor,
    createdAt: row.created_at,
  };
}
