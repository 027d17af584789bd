import type { MigrationSet } from '../../../../sql/migrate.ts';
import { initial } from './0001-initial.ts';
import { drains } from './0002-drains.ts';

/** In order of their names. Add, never change. */
export const MIGRATIONS: MigrationSet = {
  table: 'log_migrations',
  migrations: { '0001_initial': initial, '0002_drains': drains },
};
