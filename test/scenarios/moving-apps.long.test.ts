/** `tancho migrate --pool`: the apps of a server move from its machine to a small cluster and back while they serve, and whatever cuts that off, the same command goes on. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtProgram } from '../support/built.ts';
import { type ControlsWorld, startControlsWorld, WITHOUT_CONTROLS } from '../support/controls-world.ts';
import { createLoad, type Load } from '../support/load.ts';
import { skipFor } from '../support/skips.ts';
import { until } from '../support/until.ts';
import type { World } from '../support/world.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const APPS = ['shop', 'blog'];

const controls: ControlsWorld | null = await startControlsWorld();

describe('the apps of a server', skipFor(controls === null && WITHOUT_CONTROLS), () => {
  let world: World;
  let token: string;

  beforeAll(async () => {
    const { registry, start } = controls ?? expect.fail('no cluster');
    const busybox = await readFile('/bin/busybox').catch(() => readFile('/usr/bin/busybox'));
    // In the cluster its name is what runs.
    const serve = '#!/bin/sh\nexec /bin/busybox httpd -f -p "$PORT" -h /www\n';
    const files = [
      { path: 'bin/busybox', data: busybox, mode: 0o755 },
      { path: 'bin/sh', type: 'symlink' as const, target: 'busybox' },
      { path: 'bin/serve', data: serve, mode: 0o755 },
      { path: 'bin/exit', data: serve, mode: 0o755 },
      { path: 'www/index.html', data: 'hello' },
    ];
    const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
    for (const [tag, Entrypoint] of [
      ['serves', ['serve']],
      ['ends', ['exit', '3']],
    ] as const)
      registry.addImage('team/web', tag, { architecture, layers: [files], config: { Entrypoint, Env: ['PATH=/bin'] } });
    world = await start({ TANCHO_PROCESS_ENGINE: 'on' });
    token = await world.login();
    const pool = await world.cli(['pool', 'create', 'prod', '--engine', 'prod', '--public']);
    expect(pool.code, pool.stderr).toBe(0);
    for (const app of APPS) await deploy(app, 'serves');
  });
  afterAll(async () => {
    await controls?.dispose();
  });

  async function deploy(app: string, tag: string): Promise<void> {
    const made = await world.api('POST', '/apps', {
      ...{ token, body: JSON.stringify({ name: app, platform: 'nodejs', pool: 'default' }) },
    });
    expect(made.status, made.text).toBe(200);
    const body = new URLSearchParams({
      image: `${controls?.registry.host}/team/web:${tag}`,
      origin: 'image',
    }).toString();
    const deployed = await world.api('POST', `/1.0/apps/${app}/deploy`, { token, body, headers: FORM });
    expect(deployed.text).toMatch(/OK\n$/);
  }

  const pods = (): string[] =>
    (controls?.cluster.server.store.all('pods') ?? []).map(({ metadata }) => metadata.name.replace(/-web-.*/, ''));
  const pools = async (): Promise<string[]> =>
    (await world.api('GET', '/apps', { token }))
      .json<{ Name: string; Pool: string }[]>()
      .map(({ Name, Pool }) => `${Name} in ${Pool}`)
      .sort();

  async function underLoad(step: (load: Load) => Promise<void>): Promise<void> {
    const loads = APPS.map((app) => createLoad(world, app, 2));
    for (const load of loads) await load.reached(20);
    const [first = expect.fail('no load')] = loads;
    await step(first);
    for (const load of loads) {
      const { failures, texts } = await load.stop();
      expect([failures, [...texts].map((text) => text.trim())]).toEqual([[], ['hello']]);
    }
  }

  it('move to the cluster, one after the other, and no request fails', async () => {
    await underLoad(async (load) => {
      const moved = await world.cli(['migrate', '--pool', 'prod']);
      expect(moved.code, moved.stderr).toBe(0);
      expect(moved.stdout).toContain('2 apps moved to the pool prod, 0 were there, 0 stay.');
      await load.reached(100);
    });
    expect(await pools()).toEqual(['blog in prod', 'shop in prod']);
    await until(() => pods().sort().join() === 'blog,shop', { what: 'one pod of each', detail: () => pods().join() });
  });

  it('move back, and leave nothing there', async () => {
    await underLoad(async () => {
      const moved = await world.cli(['migrate', '--pool', 'default', '--from', 'prod']);
      expect(moved.code, moved.stderr).toBe(0);
    });
    expect(await pools()).toEqual(['blog in default', 'shop in default']);
    await until(() => pods().length === 0, { what: 'no pod to be left', detail: () => pods().join() });
  });

  it('serve on when the command is killed between them, and the same command goes on with the rest', async () => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: world.home, TANCHO_HOME: world.home };
    await underLoad(async () => {
      const main = path.join(await builtProgram(), 'main.js');
      const command = spawn(process.execPath, [main, 'migrate', '--pool', 'prod'], { env, stdio: 'pipe' });
      const ended = once(command, 'close');
      let printed = '';
      const read = (data: Buffer): void => {
        printed += data.toString();
        if (printed.includes('moved in')) command.kill('SIGKILL');
      };
      command.stderr.on('data', read);
      command.stdout.on('data', read);
      await ended;
      expect(printed).toContain('moved in');
      // What it has asked for last may still be under way.
      const again = world.cli(['migrate', '--pool', 'prod']);
      expect((await again).code, (await again).stderr).toBe(0);
    });
    expect(await pools()).toEqual(['blog in prod', 'shop in prod']);
  });

  it('stay where they serve when they do not start there, and hold up no other one', async () => {
    const back = await world.cli(['migrate', '--pool', 'default', '--from', 'prod']);
    expect(back.code, back.stderr).toBe(0);
    await deploy('a-first-one', 'ends');
    await underLoad(async () => {
      const moved = await world.cli(['migrate', '--pool', 'prod']);
      expect([moved.code, moved.stderr]).toEqual([1, expect.stringContaining('a-first-one stays where it is')]);
    });
    expect(await pools()).toEqual(['a-first-one in default', 'blog in prod', 'shop in prod']);
    expect((await world.fetchApp('a-first-one')).text.trim()).toBe('hello');
  });
});
