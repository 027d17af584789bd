import { expect, it } from 'vitest';
import { NO_SETTINGS } from './app-settings.ts';
import type { Release } from './app.ts';
import { releaseChanges } from './release-changes.ts';

const FIRST: Release = {
  app: 'shop',
  number: 1,
  artifact: 'slug-1',
  deployId: 'd1',
  commit: 'aaa',
  image: '',
  published: '',
  env: [
    { name: 'GREETING', value: 'hello', public: true, managedBy: '' },
    { name: 'TOKEN', value: 'sesame', public: false, managedBy: '' },
    { name: 'SAME', value: 'same', public: false, managedBy: '' },
    { name: 'OLD', value: 'open', public: false, managedBy: '' },
  ],
  processes: { web: { command: 'node server.js', count: 1 } },
  healthCheck: null,
  hooks: { release: [], restartBefore: [], restartAfter: [] },
  limits: null,
  placement: null,
  settings: NO_SETTINGS,
  mounts: [],
  bindingNames: {},
  maintenancePage: '',
  reason: 'deploy',
  by: 'ann@example.com',
  createdAt: '2026-03-04T05:06:07.000Z',
};

it('what two equal releases differ in is nothing', () => {
  expect(releaseChanges(FIRST, { ...FIRST, number: 2, reason: 'scale', createdAt: 'later' })).toEqual([]);
});

it('says what of the code, the variables, the processes, the limits and the rest differs, and never a private value', () => {
  const changes = releaseChanges(FIRST, {
    ...FIRST,
    number: 2,
    commit: 'bbb',
    env: [
      { name: 'GREETING', value: 'good evening', public: true, managedBy: '' },
      { name: 'TOKEN', value: 'other secret', public: false, managedBy: '' },
      { name: 'SAME', value: 'same', public: false, managedBy: '' },
      { name: 'DATABASE_URL', value: 'postgres://secret', public: false, managedBy: 'db' },
    ],
    processes: { web: { command: 'node server.js', count: 3 }, clock: { command: 'node clock.js', count: 1 } },
    healthCheck: { path: '/healthz' },
    hooks: { release: ['node migrate.js'], restartBefore: [], restartAfter: [] },
    limits: { memoryBytes: 128 * 1024 ** 2, cpuMillis: 500 },
    placement: { engine: 'cluster', options: { namespace: 'apps' } },
    mounts: [{ volume: 'uploads', path: '/uploads', processes: ['web'], from: 'set' }],
    settings: { ...NO_SETTINGS, root: 'packages/shop' },
  });
  const rows = changes.map(({ part, name, kind, before, after, isPrivate }) => [
    part,
    name,
    kind,
    before,
    after,
    isPrivate,
  ]);
  expect(rows).toEqual([
    ['code', 'commit', 'changed', 'aaa', 'bbb', false],
    ['variable', 'DATABASE_URL', 'added', '', '', true],
    ['variable', 'GREETING', 'changed', 'hello', 'good evening', false],
    ['variable', 'OLD', 'removed', '', '', true],
    ['variable', 'TOKEN', 'changed', '', '', true],
    ['process', 'clock', 'added', '', 'node clock.js', false],
    ['process', 'clock: units', 'added', '', '1', false],
    ['process', 'web: units', 'changed', '1', '3', false],
    ['limits', 'memory', 'added', '', '128 MiB', false],
    ['limits', 'processor', 'added', '', '50 %', false],
    ['engine', 'name', 'added', '', 'cluster', false],
    ['engine', 'namespace', 'added', '', 'apps', false],
    ['health', 'path', 'added', '', '/healthz', false],
    ['hook', 'release', 'added', '', 'node migrate.js', false],
    ['volume', 'uploads', 'added', '', '/uploads (web)', false],
    ['build', 'root', 'added', '', 'packages/shop', false],
  ]);
  expect(JSON.stringify(changes)).not.toMatch(/secret|sesame|open/);
});

it('a variable that becomes private has no value on either side', () => {
  const [change] = releaseChanges(FIRST, {
    ...FIRST,
    env: FIRST.env.map((one) => (one.name === 'GREETING' ? { ...one, public: false } : one)),
  });
  expect(change).toEqual({
    part: 'variable',
    name: 'GREETING',
    kind: 'changed',
    before: '',
    after: '',
    isPrivate: true,
  });
});
