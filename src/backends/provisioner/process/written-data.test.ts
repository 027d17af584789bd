import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writtenData } from './written-data.ts';

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'tancho-written-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function wrote(...files: string[]): void {
  for (const file of files) {
    mkdirSync(join(directory, dirname(file)), { recursive: true });
    writeFileSync(join(directory, file), '');
  }
}

it('is databases and uploads, not what is made anew', async () => {
  wrote('db.sqlite3', 'app/public/uploads/1.png', 'node_modules/x/test.db', 'app/page.html', '.next/cache/rows.db');
  expect(await writtenData(directory)).toEqual(['app/public/uploads/', 'db.sqlite3']);
});

it('is nothing where there is nothing, and a few names of many', async () => {
  expect(await writtenData(join(directory, 'none'))).toEqual([]);
  wrote(...Array.from({ length: 30 }, (_, index) => `${index}.db`));
  expect(await writtenData(directory)).toHaveLength(5);
});
