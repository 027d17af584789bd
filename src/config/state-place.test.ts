import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from './load.ts';
import { databaseInForce, readStatePlace, writeStatePlace } from './state-place.ts';

const THERE = 'postgres://tancho:a@db.example.com/tancho';
const OTHER = 'postgres://tancho:a@db.example.com/other';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'tancho-place-'));
});
afterEach(() => rm(home, { recursive: true }));

describe('where the state is', () => {
  it.each([
    ['never moved, no setting', null, null, null],
    ['never moved, a setting', THERE, null, THERE],
    ['moved there, no setting', null, { url: THERE, left: null }, THERE],
    ['moved there, which has another password by now', `${THERE}?a`, { url: THERE, left: null }, `${THERE}?a`],
    ['moved back, no setting', null, { url: null, left: THERE }, null],
    [
      'moved back, and the setting still names what was left',
      THERE.replace(':a@', ':b@'),
      { url: null, left: THERE },
      null,
    ],
    [
      'moved back, and the setting names the port, too',
      THERE.replace('.com/', '.com:5432/'),
      { url: null, left: THERE },
      null,
    ],
    ['moved back, and the setting names another one', OTHER, { url: null, left: THERE }, OTHER],
  ])('%s', (_, setting, place, expected) => expect(databaseInForce(setting, place)).toBe(expected));

  it('is said by the last move, to the owner only, and is what the configuration says', async () => {
    expect(await readStatePlace(home)).toBeNull();
    await writeStatePlace(home, { url: THERE, left: null });
    await writeStatePlace(home, { url: null, left: THERE });
    await writeStatePlace(home, { url: THERE, left: null });
    expect((await stat(join(home, 'state.json'))).mode & 0o777).toBe(0o600);
    expect(await readdir(home)).toEqual(['state.json']);
    expect((await loadConfig({ TANCHO_HOME: home })).databaseUrl).toBe(THERE);
    await writeStatePlace(home, { url: null, left: THERE });
    expect((await loadConfig({ TANCHO_HOME: home, TANCHO_DATABASE_URL: THERE })).databaseUrl).toBeNull();
  });

  it.each(['', '{', '[]', '{"url":5,"left":null}', '{"url":"nowhere","left":null}'])('%j is refused', async (text) => {
    await writeFile(join(home, 'state.json'), text);
    await expect(loadConfig({ TANCHO_HOME: home })).rejects.toThrow('does not say where the state is');
  });
});
