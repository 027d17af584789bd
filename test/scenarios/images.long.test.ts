/** Images from a registry, run by the real program: deployed, answered, gone back to, cut off, refused. */
import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ImageRegistry, type ImageParts } from '../support/image-registry.ts';
import { allowPush, createIdentity, type Identity } from '../support/git.ts';
import type { TarEntry } from '../support/tar-writer.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';

/** One program without any library, as images made from nothing hold it. */
const BUSYBOX = ['/bin/busybox', '/usr/bin/busybox'].find((file) => existsSync(file));
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const SERVE = 'exec /busybox httpd -f -p $PORT -h /www';

let world: World;
let registry: ImageRegistry;
let ann: Identity;
let token: string;
let why = BUSYBOX === undefined ? 'there is no /bin/busybox (install the package busybox-static)' : '';

beforeAll(async () => {
  registry = await ImageRegistry.start();
  world = await startWorld({ env: { TANCHO_UNITS_START_TIMEOUT: '8s', TANCHO_UNITS_STOP_GRACE: '1s' } });
  ann = await createIdentity();
  token = await allowPush(world, ann);
  const isolation = /^Isolation: +(.*)$/m.exec(world.output())?.[1] ?? '';
  if (!isolation.startsWith('bubblewrap') || isolation.includes('images do not run')) why ||= isolation;
  if (why !== '') console.log(`images are not run in these tests: ${why}`);
});

afterAll(async () => {
  await world.dispose();
  await registry.close();
  await ann.dispose();
});

/** The program alone, and a page. */
function image(page: string, command: string = SERVE, config: ImageParts['config'] = {}, more: TarEntry[] = []) {
  const program = { path: 'busybox', data: readFileSync(BUSYBOX ?? ''), mode: 0o755 };
  const pages = [{ path: 'www/index.html', data: page }, ...more];
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
  return {
    architecture,
    layers: [[program], pages],
    config: { Entrypoint: ['/busybox', 'sh', '-c', command], ...config },
  };
}

async function create(name: string): Promise<void> {
  const body = JSON.stringify({ name, platform: 'nodejs' });
  expect((await world.api('POST', '/apps', { token, body })).status).toBe(200);
}

async function deploy(app: string, name: string): Promise<string> {
  const body = new URLSearchParams({ image: `${registry.host}/${name}`, origin: 'image' }).toString();
  return (await world.api('POST', `/1.0/apps/${app}/deploy`, { token, body, headers: FORM })).text;
}

const served = async (app: string, page = '/') => (await world.fetchApp(app, page)).text;
const newest = async (app: string) =>
  (await world.api('GET', `/deploys?app=${app}&limit=1`, { token })).json<Record<string, unknown>[]>()[0];
const run = async (app: string, command: string) =>
  world.api('POST', `/apps/${app}/run?once=true`, { token, body: command, headers: { 'content-type': 'text/plain' } });

describe('an image', () => {
  it('is pulled, answers, and has what every app has', async (context) => {
    if (why !== '') context.skip(why);
    await create('shop');
    const facts = `{ /busybox id -u; pwd; /busybox env; } > /www/facts; ${SERVE}`;
    const config = { Env: ['GREETING=of the image', 'OTHER=kept'], WorkingDir: '/srv/data', User: '4711' };
    const { digest } = registry.addImage('team/shop', '1', image('one', facts, config));
    await world.api('POST', '/apps/shop/env', { token, body: JSON.stringify({ GREETING: 'of the app' }) });
    const reported = await deploy('shop', 'team/shop:1');
    expect(reported).toMatch(/Pulling [^]*2 layers[^]*Layer 2 of 2[^]*web shop\/0 is up[^]*answers at[^]*\nOK\n$/);
    expect(await served('shop')).toBe('one');
    const seen = (await served('shop', '/facts')).split('\n');
    expect(seen.slice(0, 2)).toEqual(['4711', '/srv/data']);
    expect(seen).toEqual(expect.arrayContaining(['GREETING=of the app', 'OTHER=kept', 'TANCHO_APP=shop']));
    expect(seen.some((line) => /^PORT=\d+$/.test(line))).toBe(true);
    expect(await newest('shop')).toMatchObject({
      Origin: 'image',
      Image: `${registry.host}/team/shop:1@${digest}`,
      Release: 1,
      Error: '',
    });
  });

  it('is restarted, deployed anew without being pulled anew, and gone back to by its name', async (context) => {
    if (why !== '') context.skip(why);
    const first = (await newest('shop'))?.['Image'] as string;
    expect((await world.api('POST', '/apps/shop/restart', { token })).text).toContain('web shop/1 is up');
    await world.api('POST', '/apps/shop/env', { token, body: JSON.stringify({ GREETING: 'anew' }) });
    expect(await served('shop', '/facts')).toContain('GREETING=anew');
    registry.addImage('team/shop', '2', image('two'));
    const ran = await world.cli(['deploy', '-a', 'shop', '--image', `${registry.host}/team/shop:2`]);
    expect([ran.code, ran.stdout], ran.stderr).toEqual([0, expect.stringMatching(/Pulling[^]*shop is deployed\.\n$/)]);
    expect(await served('shop')).toBe('two');
    const both = await world.cli(['app', 'deploy', '.', '-a', 'shop', '--image', 'x']);
    expect([both.code === 0, both.stderr]).toEqual([false, expect.stringContaining('either an image or files')]);
    expect((await world.cli(['deploy', 'list', '-a', 'shop'])).stdout).toMatch(/v\d .* shop:2 +done/);
    registry.seen.length = 0;
    expect(await deploy('shop', 'team/shop:2')).toMatch(/is here already[^]*\nOK\n$/);
    // The configuration is looked at, the layers are not.
    expect(registry.paths().filter((name) => name.includes('/blobs/'))).toHaveLength(1);
    expect(await readdir(path.join(world.home, 'slugs', 'shop'))).toHaveLength(2);
    const body = new URLSearchParams({ image: first, origin: 'rollback' }).toString();
    const back = await world.api('POST', '/apps/shop/deploy/rollback', { token, body, headers: FORM });
    expect(back.text).toMatch(/answers at/);
    expect(await served('shop')).toBe('one');
    expect(await newest('shop')).toMatchObject({ Origin: 'rollback', Image: first });
  });

  it('has commands and shells of its own, where there is a shell in it', async (context) => {
    if (why !== '') context.skip(why);
    const bare = await run('shop', 'echo $HOME; ls /');
    expect(bare.text).toContain('There is no shell in the image');
    expect((await run('shop', '/busybox cat /www/index.html')).text).toContain('one');
    await create('tools');
    const links = ['sh', 'ls', 'cat', 'id'].map((name): TarEntry => ({
      path: `bin/${name}`,
      type: 'symlink',
      target: '/busybox',
    }));
    registry.addImage('team/tools', '1', image('tools', SERVE, {}, links));
    expect(await deploy('tools', 'team/tools:1')).toMatch(/\nOK\n$/);
    const listed = await run('tools', 'ls /; id -u; cat /proc/1/comm >&2');
    for (const name of ['busybox', 'etc', 'proc', 'www', '1000', 'bwrap']) expect(listed.text).toContain(name);
    for (const name of ['home', 'usr', 'root']) expect(listed.text).not.toContain(name);
    const shell = await world.cli(['app', 'shell', '-a', 'tools'], { input: 'cat /www/index.html; exit 3\n' });
    expect([shell.code, shell.stdout], shell.stderr).toEqual([3, expect.stringContaining('tools')]);
    const none = await world.cli(['app', 'shell', '-a', 'shop'], { input: 'ls\n' });
    expect(none.stdout + none.stderr).toContain('There is no shell in the image');
  });

  it('that listens on a port of its own is served there, or reported what to do where networks are shared', async (context) => {
    if (why !== '') context.skip(why);
    const before = await served('shop');
    const fixed = 'exec /busybox httpd -f -p 34567 -h /www';
    registry.addImage('team/fixed', '1', image('fixed', fixed, { ExposedPorts: { '34567/tcp': {} } }));
    await create('fixed');
    const reported = await deploy('fixed', 'team/fixed:1');
    if (world.output().includes('networks: own')) {
      expect(reported).toContain('web fixed/0 is up on port 34567');
      expect(await served('fixed')).toBe('fixed');
    } else {
      expect(reported).toMatch(/Deploy failed \(wrong_port\)[^]*exposes port 34567[^]*listen on \$PORT/);
    }
    registry.addImage('team/missing', '1', { ...image('x'), config: { Cmd: ['/nothing'] } });
    expect(await deploy('shop', 'team/missing:1')).toMatch(/Deploy failed \(exited\)[^]*\/nothing/);
    expect(await served('shop')).toBe(before);
    expect(await readdir(path.join(world.home, 'slugs', 'shop'))).toHaveLength(2);
  });

  it('with a hostile layer is refused, and leaves nothing', async (context) => {
    if (why !== '') context.skip(why);
    const hostile: TarEntry[] = [
      { path: 'up', type: 'symlink', target: '../../../../../run' },
      { path: 'up/../../owned', data: 'x' },
    ];
    registry.addImage('team/bad', '1', image('bad', SERVE, {}, hostile));
    expect(await deploy('shop', 'team/bad:1')).toMatch(/Deploy failed \(invalid_source\)[^]*leads out of its root/);
    expect(await deploy('shop', 'team/none:1')).toMatch(/Deploy failed \(pull_failed\)[^]*does not have it/);
    expect(await readdir(path.join(world.home, 'slugs', 'shop'))).toHaveLength(2);
    const named = await world.api('POST', '/apps/shop/deploy', { token, body: 'image=Not%20One', headers: FORM });
    expect([named.status, named.text]).toEqual([400, expect.stringContaining('is not the name of an image')]);
  });

  it('whose pull is cut off by kill -9 holds up nothing, and what came of it goes', async (context) => {
    if (why !== '') context.skip(why);
    const { layers } = registry.addImage('team/slow', '1', image('slow'));
    registry.faults.set(layers[0]?.digest ?? '', 'halt');
    const cut = deploy('shop', 'team/slow:1').catch(() => 'cut');
    await registry.halted;
    expect(await readdir(path.join(world.home, 'slugs', 'shop'))).toHaveLength(3);
    await world.end('SIGKILL');
    await cut;
    await world.startAgain();
    token = await world.login();
    await until(async () => (await readdir(path.join(world.home, 'slugs', 'shop'))).length === 2, {
      what: 'the slug to be gone',
    });
    expect(await newest('shop')).toMatchObject({ State: 'failed', Cause: 'interrupted', Origin: 'image' });
    expect(await served('shop')).toBe('one');
    registry.faults.clear();
    expect(await deploy('shop', 'team/slow:1')).toMatch(/\nOK\n$/);
    expect(await served('shop')).toBe('slow');
  });

  it('goes with its app', async (context) => {
    if (why !== '') context.skip(why);
    const removed = await world.api('DELETE', '/apps/shop', { token });
    expect(removed.status, removed.text).toBe(200);
    expect(await readdir(path.join(world.home, 'slugs'))).not.toContain('shop');
    const tenants = JSON.parse(readFileSync(path.join(world.home, 'sandbox', 'tenants.json'), 'utf8')) as {
      uids: Record<string, number>;
    };
    expect(Object.keys(tenants.uids)).not.toContain('shop');
  });
});

it('is refused where units have no root file system of their own', async () => {
  const plain = await startWorld({ env: { TANCHO_ISOLATION: 'plain' } });
  try {
    const admin = await plain.login();
    const body = JSON.stringify({ name: 'shop', platform: 'nodejs' });
    const made = await plain.api('POST', '/apps', { token: admin, body });
    expect(made.status, made.text).toBe(200);
    const answer = await plain.api('POST', '/apps/shop/deploy', {
      token: admin,
      body: `image=${encodeURIComponent(`${registry.host}/team/shop:1`)}`,
      headers: FORM,
    });
    expect([answer.status, answer.text]).toEqual([501, expect.stringContaining('install bubblewrap')]);
  } finally {
    await plain.dispose();
  }
});
