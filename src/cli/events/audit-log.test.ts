import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CliWorld } from '../../../test/support/cli-world.ts';
import { json, problem, startPlatform } from '../../../test/support/scripted-platform.ts';
import { forgetDetail } from '../../domain/audit/log-rows.ts';
import { forgetsOf } from './audit-log.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-audit-log-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function verify(lines: readonly string[]): Promise<{ code: number; err: string }> {
  const file = join(folder, 'log.ndjson');
  await writeFile(file, lines.map((line) => `${line}\n`).join(''));
  const world = new CliWorld();
  try {
    return await world.run(['event', 'verify', file]);
  } finally {
    world.dispose();
  }
}

it('reads what retention says that it has removed', () => {
  const said = (detail: string, more = {}) =>
    forgetsOf(JSON.stringify({ phase: 'whole', actor: 'tancho', action: 'event.forget', detail, ...more }));
  expect(said(forgetDetail(3, [0, 1, 2, 9, 4, 5, 7]))).toEqual({ before: 3, rows: [4, 5, 7, 9] });
  expect(said(forgetDetail(12, [0, 1]))).toEqual({ before: 12, rows: [] });
  expect(said('before 12', { actor: 'eve@example.com' })).toBeNull();
  expect(said('before 12', { action: 'app.create', target: '"action":"event.forget"' })).toBeNull();
  expect(said('everything')).toBeNull();
  // However much a row claims, nobody runs out of memory.
  expect(said('before 0; 1-99999999999999')?.rows).toHaveLength(10_000);
});

it('refuses a file that is none, and one that does not verify, with an exit code', async () => {
  expect(await verify(['nonsense'])).toMatchObject({ code: 1, err: expect.stringContaining('Line 1') as string });
  const row = { index: 1, leaf: '', salt: '', content: null };
  const wrong = await verify([JSON.stringify({ row })]);
  expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining('Row 0 is missing') as string });
});

it('keeps what was exported before until the new export is whole', async () => {
  const row = { index: 0, leaf: 'a', salt: 'b', content: null };
  const pages = [problem(503, 'unavailable', 'Not now.'), json({ rows: [row], checkpoints: [], size: 2 })];
  pages.push(problem(403, 'access.denied', 'Not yours.'));
  pages.push(json({ rows: [row], checkpoints: [], size: 1, checkpoint: 'note', key: 'k' }));
  const platform = await startPlatform({ 'GET /events/log': (asked, response) => pages.shift()?.(asked, response) });
  const file = join(folder, 'log.ndjson');
  await writeFile(file, 'of yesterday\n');
  const world = new CliWorld();
  const env = { TANCHO_TARGET: platform.url, TANCHO_TOKEN: 'tok' };
  const exported = () => world.run(['event', 'export', file], { env });
  try {
    for (const failure of ['Not now.', 'Not yours.']) {
      expect(await exported()).toMatchObject({ code: 1, err: expect.stringContaining(failure) as string });
      expect(await readFile(file, 'utf8')).toBe('of yesterday\n');
    }
    expect(await exported()).toMatchObject({ code: 0, out: expect.stringContaining('1 rows written') as string });
    expect(await readFile(file, 'utf8')).toBe(
      `${JSON.stringify({ row })}\n${JSON.stringify({ head: { checkpoint: 'note', key: 'k' } })}\n`,
    );
    expect(await readdir(folder)).toEqual(['log.ndjson']);
  } finally {
    world.dispose();
    await platform.close();
  }
});
