/** What operators change, on the built program: a platform of their own, limits of units, a second admin, over a restart. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allowPush, createIdentity, createWorkTree, type Identity, sshUrl, type WorkTree } from '../support/git.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';

const DEFINITION = `description: Node without any package
example: node main.mjs
detect: [main.mjs]
tools:
  - { program: node, runtime: true, install: { apt-get: apt-get install -y nodejs } }
steps:
  - { name: check, run: [node, --check, main.mjs] }
processes:
  - { name: web, command: node main.mjs }
`;
/** Asked for /eat it takes 200 MiB and keeps them. */
const APP = `import http from 'node:http';
const kept = [];
http.createServer((request, response) => {
  if (request.url === '/eat') for (let n = 0; n < 20; n++) kept.push(Buffer.alloc(10 * 1024 ** 2, n));
  response.end('plain');
}).listen(process.env.PORT);
`;

let world: World;
let ann: Identity;
let token: string;
let tree: WorkTree;
let directory: string;

beforeAll(async () => {
  world = await startWorld();
  ann = await createIdentity();
  token = await allowPush(world, ann);
  tree = await createWorkTree({ 'main.mjs': APP }, ann);
  directory = await mkdtemp(join(tmpdir(), 'platform-'));
  await writeFile(join(directory, 'plain.yaml'), DEFINITION);
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
  await tree.dispose();
  await world.dispose();
  await ann.dispose();
});

const cli = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await world.cli(args, { cwd: directory, env: { TANCHO_TOKEN: token } });
  expect(code, `${args.join(' ')}: ${stdout}${stderr}`).toBe(0);
  return stdout;
};
const limitOf = async (): Promise<unknown> =>
  (await world.api('GET', '/apps/plain', { token })).json<{ plan: unknown }>().plan;

describe('an operator', () => {
  it('adds a platform, and apps of it are built and answer', async () => {
    await cli('platform', 'add', 'plain', 'plain.yaml');
    expect(await cli('platform', 'list')).toMatch(/^plain +yes +Node without any package/m);
    await cli('app', 'create', 'plain', 'plain', '--no-remote');
    const pushed = await tree.push(sshUrl(world, 'plain'));
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(pushed.stderr).toContain('Building plain with plain');
    expect((await world.fetchApp('plain')).text).toBe('plain');
  });

  it('limits the memory of its units, and the limit holds', async () => {
    await cli('plan', 'create', 'small', '--memory', '128M');
    await cli('app', 'update', 'plain', '--plan', 'small');
    expect(await limitOf()).toMatchObject({ name: 'small', memory: 128 * 1024 ** 2 });
    expect((await world.fetchApp('plain')).text).toBe('plain');
    await world.fetchApp('plain', '/eat');
    await until(
      async () => {
        const { text } = await world.api('GET', '/apps/plain/log?lines=50', { token });
        return /memory/i.test(text);
      },
      { what: 'the unit to be ended for its memory' },
    );
    await until(async () => (await world.fetchApp('plain')).status === 200, {
      what: 'the app to answer again',
      timeoutMs: 60_000,
    });
    const refused = await world.cli(['plan', 'remove', 'small'], { env: { TANCHO_TOKEN: token } });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('plain')]);
  });

  it('finds all of it again after a restart', async () => {
    await world.end('SIGKILL');
    await world.startAgain();
    expect(await cli('platform', 'list')).toMatch(/^plain +yes/m);
    expect(await limitOf()).toMatchObject({ name: 'small' });
    await tree.write({ 'main.mjs': `${APP}// again\n` });
    await tree.commit();
    const again = await tree.push(sshUrl(world, 'plain'));
    expect(again.code, again.stderr).toBe(0);
    expect((await world.fetchApp('plain')).text).toBe('plain');
  });
});
