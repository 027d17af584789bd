import { existsSync, realpathSync } from 'node:fs';
import { expect, it } from 'vitest';
import { surroundings } from './surroundings.ts';

const own = { home: '/units/u1/home', tmp: '/units/u1/tmp' };
const shared = { path: '/slugs/a/code', writable: true };
const layer = { path: '/units/u1/layer/code', writable: true };
const manifest = { format: 1, platform: 'node', path: [], env: {}, binds: ['/layers/1'] } as const;

it('of built code is the code, what is the process’s own and what the slug needs, each where it is', () => {
  expect(surroundings({ code: '/slugs/a/code', manifest }, { ...own, place: shared })).toEqual({
    cwd: '/slugs/a/code',
    binds: [
      { path: '/slugs/a/code', writable: true },
      { path: own.home, writable: true },
      { path: own.tmp, writable: true },
      { path: '/layers/1', writable: false },
    ],
    ...own,
  });
});

it('of code under a layer is the layer, where the code is', () => {
  const { cwd, binds } = surroundings({ code: '/slugs/a/code', manifest }, { ...own, place: layer });
  expect(cwd).toBe('/slugs/a/code');
  expect(binds[0]).toEqual({ ...layer, at: '/slugs/a/code' });
});

it('of an image is its root, where the machine gives a directory for temporary files and how names are found', () => {
  const image = { digest: 'sha256:1', directory: '/srv', home: '/root', uid: 33, gid: 34, ports: [], programs: [] };
  const found = surroundings({ code: '/slugs/a/code', manifest: { ...manifest, image } }, { ...own, place: layer });
  expect(found).toMatchObject({ cwd: '/srv', home: '/root', tmp: '/tmp' });
  expect(found.root).toEqual({ directory: layer.path, uid: 33, gid: 34 });
  const names = ['resolv.conf', 'hosts'].filter((name) => existsSync(`/etc/${name}`));
  expect(found.binds).toEqual([
    { path: own.tmp, writable: true, at: '/tmp' },
    ...names.map((name) => ({ path: realpathSync(`/etc/${name}`), writable: false, at: `/.tancho/${name}` })),
  ]);
});

it('of code that was built on an image is that image, with nothing of the platform but what is its own', () => {
  const base = { image: 'a@sha256:1', root: '/home/bases/1/root', home: '/home', uid: 33, gid: 34, name: 'web' };
  const found = surroundings({ code: '/slugs/a/code', manifest: { ...manifest, base } }, { ...own, place: shared });
  expect(found).toMatchObject({ cwd: '/slugs/a/code', home: own.home, tmp: '/tmp' });
  expect(found.root).toEqual({ directory: '/home/bases/1/root', uid: 33, gid: 34, name: 'web', isShared: true });
  expect(found.binds).toContainEqual({ path: '/home', writable: false, isEmpty: true });
  expect(found.binds).toContainEqual({ path: own.tmp, writable: true, at: '/tmp', within: true });
  expect(found.binds).toContainEqual({ path: '/layers/1', writable: false });
});
