import type { HintRow } from './hint-row.ts';
import { COMPILED_ROWS } from './compiled-rows.ts';
import { DOCKERFILE_ROWS } from './dockerfile-rows.ts';
import { PACKAGE_ROWS } from './package-rows.ts';
import { PYTHON_ROWS } from './python-rows.ts';
import { PLAN_ROWS } from './plan-rows.ts';
import { SITE_ROWS } from './site-rows.ts';
import { START_ROWS } from './start-rows.ts';
import { VOLUME_ROWS } from './volume-rows.ts';

/** The table: each row is followed in hints-*.long.test.ts, or in hints.test.ts where a plan shows it. */
export const ALL_ROWS: Readonly<Record<string, HintRow>> = Object.fromEntries(
  [PLAN_ROWS, START_ROWS, COMPILED_ROWS, PYTHON_ROWS, DOCKERFILE_ROWS, PACKAGE_ROWS, VOLUME_ROWS, SITE_ROWS].flatMap(
    (rows, table) => Object.entries(rows).map(([title, row]) => [`${table} ${title}`, row]),
  ),
);
