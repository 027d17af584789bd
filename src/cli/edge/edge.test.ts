import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ScriptedCli } from '../../../test/support/scripted-cli.ts';
import { json } from '../../../test/support/scripted-platform.ts';
import { DEFAULT_EDGE } from '../../domain/apps/edge-settings.ts';

let cli: ScriptedCli;
beforeEach(() => {
  cli = new ScriptedCli();
});
afterEach(() => cli.close());

const set = {
  'PUT /apps/shop/edge': json({ ...DEFAULT_EDGE, maintenance: true, maintenancePage: '<p>', holdSeconds: 60 }),
};

it('sends what is set by its names in the API, a page from a file, and shows what is in effect', async () => {
  await writeFile(join(cli.world.work, 'soon.html'), '<h1>Soon</h1>');
  const args = ['edge', 'set', 'maintenance=on', 'maintenance-page=@soon.html', 'hold-seconds=60', '-a', 'shop'];
  const { code, out, asked } = await cli.against(set, args);
  expect(code).toBe(0);
  expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
    maintenance: 'on',
    maintenancePage: '<h1>Soon</h1>',
    holdSeconds: '60',
  });
  expect(out).toMatch(/Maintenance: +on, with its own page of 3 bytes/);
  expect(out).toMatch(/Hold: +off/);
});

it('takes settings back', async () => {
  const { asked } = await cli.against(set, ['edge', 'unset', 'sticky', 'max-requests', '-a', 'shop']);
  expect(JSON.parse(asked[0]?.body ?? '')).toEqual({ sticky: null, maxRequests: null });
});

it.each([
  [['set', 'maintenence=on'], /no setting "maintenence".*maintenance/s],
  [['set', 'maintenance'], /NAME=VALUE.*tancho edge set -a shop maintenance=on/s],
  [['set', 'sticky=on', 'sticky=off'], /given twice/],
  [['unset', 'sticki'], /no setting "sticki"/],
])('refuses edge %j before anything is asked', async (args, message) => {
  const { code, err, asked } = await cli.against(set, ['edge', ...args, '-a', 'shop']);
  expect(code).not.toBe(0);
  expect(err).toMatch(message);
  expect(asked).toEqual([]);
});
