/** Every way in which a push can go wrong. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allowPush, createIdentity, createWorkTree, type Identity, nodeApp, sshUrl } from '../support/git.ts';
import { startWorld, type World } from '../support/world.ts';
import { ENGINE } from '../support/world-engine.ts';

let world: World;
let ann: Identity;
let token: string;

beforeAll(async () => {
  world = await startWorld({ env: { TANCHO_UNITS_START_TIMEOUT: '4s' } });
  ann = await createIdentity();
  token = await allowPush(world, ann);
});

afterAll(async () => {
  await world.dispose();
  await ann.dispose();
});

async function createApp(name: string, platform = 'nodejs'): Promise<void> {
  const answer = await world.api('POST', '/apps', { token, body: JSON.stringify({ name, platform }) });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.json<{ repository_url: string }>().repository_url).toBe(sshUrl(world, name));
}

describe('a push that goes wrong is refused, says why, and the old version still serves', () => {
  const cases: { name: string; cause: string; says: RegExp; files: Record<string, string | null> }[] = [
    {
      name: 'exits',
      cause: 'exited',
      says: /my last words/,
      files: { 'server.js': "console.log('my last words'); process.exit(3);\n" },
    },
    { name: 'silent', cause: 'no_listener', says: /PORT/, files: { 'server.js': 'setInterval(() => {}, 1000);\n' } },
    {
      name: 'elsewhere',
      // Where units have a network elsewhere, nobody sees what they listen on.
      cause: ENGINE === 'process' ? 'wrong_port' : 'no_listener',
      says: /\$?PORT/,
      files: { 'server.js': "require('node:http').createServer(() => {}).listen(0, '127.0.0.1');\n" },
    },
    {
      name: 'unhealthy',
      cause: 'health_check_failed',
      says: /\/health/,
      files: {
        'tancho.yaml': 'healthcheck:\n  path: /health\n',
        'server.js':
          "require('node:http').createServer((q, r) => { r.statusCode = 500; r.end(); }).listen(process.env.PORT);\n",
      },
    },
    { name: 'procless', cause: 'no_process', says: /Procfile/, files: { 'server.js': null, Procfile: null } },
    { name: 'broken', cause: 'invalid_config', says: /Procfile/, files: { Procfile: 'this is no procfile\n' } },
    {
      name: 'unbuildable',
      cause: 'build_failed',
      says: /build hook spoke/,
      files: { 'tancho.yaml': 'hooks:\n  build:\n    - echo build hook spoke && exit 4\n' },
    },
  ];

  it.each(cases)('$cause', async ({ name, cause, says, files }) => {
    await createApp(name);
    const work = await createWorkTree(nodeApp('good'), ann);
    const good = await work.push(sshUrl(world, name));
    expect(good.code, good.stderr).toBe(0);
    await work.write(files);
    await work.commit();
    const pushed = await work.push(sshUrl(world, name));
    expect(pushed.code).not.toBe(0);
    expect(pushed.stderr).toContain(`Deploy failed (${cause})`);
    expect(pushed.stderr).toMatch(says);
    expect(pushed.stderr).toContain('still serving');
    expect((await world.fetchApp(name)).text).toBe('good');
    await work.dispose();
  });

  it('unknown platform files', async () => {
    await createApp('lost', 'python');
    const work = await createWorkTree(nodeApp('x'), ann);
    const pushed = await work.push(sshUrl(world, 'lost'));
    expect(pushed.code).not.toBe(0);
    expect(pushed.stderr).toContain('Deploy failed (no_platform)');
    expect((await world.fetchApp('lost')).status).toBe(503);
    await work.dispose();
  });

  it('a missing app', async () => {
    const work = await createWorkTree(nodeApp('x'), ann);
    const pushed = await work.push(sshUrl(world, 'nowhere'));
    expect(pushed.code).not.toBe(0);
    expect(pushed.stderr).toContain('not found');
    await work.dispose();
  });
});
