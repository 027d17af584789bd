import { expect, it } from 'vitest';
import { sourceOf } from '../../../test/support/memory-source.ts';
import { type AppFiles, readAppFiles } from './app-files.ts';

async function read(files: Readonly<Record<string, string>>, notes: string[] = []): Promise<AppFiles> {
  return readAppFiles(sourceOf(files), { section: null, options: [], note: (text) => notes.push(text) });
}

it('release is no process, but what runs once per new version', async () => {
  const files = await read({ Procfile: 'release: migrate\nweb: serve' });
  expect(files).toMatchObject({ processes: { web: 'serve' }, release: ['migrate'] });
  expect(await read({ Procfile: 'release: migrate' })).toMatchObject({ processes: null, release: ['migrate'] });
  expect(await read({ 'tancho.yaml': 'hooks: { release: [a, b] }' })).toMatchObject({ release: ['a', 'b'] });
});

it('beside a Procfile tancho.yaml may say how many units there are, and how they are looked at, but no commands', async () => {
  const yaml = 'processes: { worker: { count: 0 } }\nhealthcheck: { liveness: off }';
  expect((await read({ Procfile: 'web: serve', 'tancho.yaml': yaml })).settings).toEqual({
    worker: { count: 0 },
    web: { liveness: 'off' },
  });
  for (const [procfile, text] of [
    ['web: serve', 'processes: { worker: work }'],
    ['release: migrate', 'hooks: { release: [migrate] }'],
  ] as const) {
    const reading = read({ Procfile: procfile, 'tancho.yaml': text });
    await expect(reading).rejects.toMatchObject({ code: 'invalid_config' });
  }
});

it('reads the page for maintenance from the source, and nothing from elsewhere', async () => {
  const yaml = (path: string) => ({ 'tancho.yaml': `maintenance_page: ${path}`, 'public/down.html': '<h1>Soon</h1>' });
  expect((await read(yaml('public/down.html'))).maintenancePage).toBe('<h1>Soon</h1>');
  expect((await read({})).maintenancePage).toBe('');
  for (const [path, why] of [
    ['down.html', 'is not there'],
    ['/etc/hostname', 'is no path below the source'],
    ['public/../../down.html', 'is no path below the source'],
  ] as const) {
    await expect(read(yaml(path))).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining(why),
    });
  }
  const large = { 'tancho.yaml': 'maintenance_page: a.html', 'a.html': 'x'.repeat(16_385) };
  await expect(read(large)).rejects.toMatchObject({ message: expect.stringContaining('larger than 16384 bytes') });
});

it('takes quantities from app.json, and says what of it is not done', async () => {
  const notes: string[] = [];
  const json = JSON.stringify({
    formation: { web: { quantity: 2 }, worker: { quantity: 3, size: 'x' }, odd: { quantity: -1 }, none: 7 },
    env: { KEY: { generator: 'secret' }, OTHER: 'x', NEEDED: {}, OPTIONAL: { required: false } },
    scripts: { postdeploy: 'seed' },
    cron: [{ command: 'x', schedule: '@daily' }],
  });
  const files = await read({ 'app.json': json, 'tancho.yaml': 'processes: { worker: { count: 1 } }' }, notes);
  expect(files.settings).toEqual({ web: { count: 2 }, worker: { count: 1 } });
  expect(notes.map((note) => note.slice(0, 30))).toHaveLength(3);
  expect(notes[0]).toContain('NEEDED');
  expect(files.variables).toEqual([
    { name: 'KEY', value: { generated: 'hex' }, from: 'app.json', when: 'first' },
    { name: 'OTHER', value: 'x', from: 'app.json', when: 'first' },
  ]);
  expect((await read({ 'app.json': '{"expo": {"name": "x"}}' }, notes)).settings).toEqual({});
  expect(notes).toHaveLength(3);
});

it('leaves to other programs what they call so, where nothing of it is known here, and says so', async () => {
  const manifests = 'apiVersion: v1\nkind: Service\n---\napiVersion: apps/v1\nspec:\n  volumes: []\n';
  for (const [file, text] of [
    ['app.yaml', manifests],
    ['app.yaml', '{{- if .Values.healthcheck }}\nkind: Service\n'],
    ['app.yml', '- name: shop\n'],
    ['app.yaml', `kind: Service\n${'# none of ours\n'.repeat(3_000)}`],
    ['app.json', '{ // of Expo\n "expo": {}, }'],
    ['app.json', `{ // of Expo\n${'"a": 1,\n'.repeat(9_000)}`],
  ] as const) {
    const notes: string[] = [];
    expect(await read({ [file]: text, Procfile: 'web: serve' }, notes)).toMatchObject({ processes: { web: 'serve' } });
    expect(notes).toEqual([expect.stringContaining(`${file} is left to other programs`) as string]);
  }
  const commented = '{ // of Expo\n "expo": {}, "formation": { "web": { "quantity": 2 } }, }';
  expect((await read({ 'app.json': commented })).settings).toEqual({ web: { count: 2 } });
  for (const [file, text] of [
    ['app.yaml', 'processes: [web'],
    ['app.yml', '{ "hooks": { build: make } }'],
    ['tancho.yaml', manifests],
    ['tsuru.yaml', '- name: shop\n'],
    ['app.json', '{ "env": { "A": "x" }\n "formation": { "web": { "quantity": 2 } } }'],
  ] as const) {
    await expect(read({ [file]: text })).rejects.toMatchObject({ code: 'invalid_config' });
  }
});
