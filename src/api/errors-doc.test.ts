import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { FAILURE_CAUSES } from '../domain/failure.ts';
import { ERROR_CODES } from '../domain/errors.ts';
import { STATUS } from './status.ts';

/** The cells of a table's rows, by the heading it stands under. */
async function tableUnder(heading: string): Promise<string[][]> {
  const text = await readFile(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const [, section = ''] = text.split(`\n## ${heading}\n`);
  const rows = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

it('docs/errors.md has every code with its status, in order, and no other', async () => {
  const rows = await tableUnder('Codes');
  expect(rows.map(([code, status]) => [code, Number(status)])).toEqual(ERROR_CODES.map((code) => [code, STATUS[code]]));
  for (const row of rows) expect(row.filter(Boolean), row[0]).toHaveLength(4);
});

it('docs/errors.md has every cause of a failure, in order, and no other', async () => {
  const rows = await tableUnder('Causes of failed deploys and restarts');
  expect(rows.map(([cause]) => cause)).toEqual([...FAILURE_CAUSES]);
  for (const row of rows) expect(row.filter(Boolean), row[0]).toHaveLength(3);
});
