import type { DatabaseKind } from '../../../../sql/database.ts';
import type { MigrationSet } from '../../../../sql/migrate.ts';
import { initial } from './0001-initial.ts';
import { drains } from './0002-drains.ts';
import { blocks } from './0003-blocks.ts';
import { outputCursors } from './0004-output-cursors.ts';
import { metrics } from './0005-metrics.ts';

/** In order of their names. Add, never change. */
export function migrations(kind: DatabaseKind): MigrationSet {
  return {
    table: 'log_migrations',
    migrations: {
      '0001_initial': initial,
      '0002_drains': drains,
      '0003_blocks': blocks(kind),
      '0004_output_cursors': outputCursors,
      '0005_metrics': metrics(kind),
    },
  };
}
