/** Images from a registry, run by the real program: deployed, answered, gone back to, and refused. */
import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ImageRegistry } from '../support/image-registry.ts';
import { allowPush, createIdentity, type Identity } from '../support/git.ts';
import { startWorld, type World } from '../support/world.ts';

let world: World;
let registry: ImageRegistry;
let ann: Identity;
let token: string;
const BUSYBOX = ['/bin/busybox', '/usr/bin/busybox'].find((file) => existsSync(file)) ?? '';

beforeAll(async () => {
  registry = await ImageRegistry.start();
  world = await startWorld();
  ann = await createIdentity();
  token = await allowPush(world, ann);
}, 60_000);

afterAll(async () => {
  await world.dispose();
  await registry.close();
  await ann.dispose();
});

describe('smoke', () => {
  it('runs', async () => {
    await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'shop', platform: 'nodejs' }) });
    registry.addImage('team/app', '1', {
      layers: [
        [
          { path: 'bin/', type: 'directory' },
          { path: 'bin/busybox', data: readFileSync(BUSYBOX), mode: 0o755 },
          { path: 'bin/sh', type: 'symlink', target: 'busybox' },
          { path: 'www/index.html', data: 'hello from an image' },
        ],
      ],
      config: { Cmd: ['/bin/sh', '-c', 'id; pwd; env; ls -la / /etc; exec /bin/busybox httpd -f -v -p $PORT -h /www'] },
    });
    const answer = await world.api('POST', '/apps/shop/deploy', {
      token,
      body: `image=${encodeURIComponent(`${registry.host}/team/app:1`)}&origin=image`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    console.log(answer.status, answer.text);
    console.log((await world.fetchApp('shop', '/index.html')).text);
    const log = await world.api('GET', '/apps/shop/log?lines=100', { token });
    console.log(
      log
        .json<{ Message: string }[]>()
        .map((one) => one.Message)
        .join('\n'),
    );
    console.log((await world.api('GET', '/deploys?app=shop', { token })).text);
    console.log(await readdir(path.join(world.home, 'slugs', 'shop')));
    const run = await world.cli(['app', 'run', '-a', 'shop', '--', 'id; ls /; cat /etc/passwd /etc/resolv.conf']);
    console.log(run);
  }, 60_000);
});
