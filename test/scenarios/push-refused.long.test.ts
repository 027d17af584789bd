/** Every way in which a push can go wrong. */
import { afterAll, describe, expect, it } from 'vitest';
import { startDeveloper } from '../support/developer.ts';
import { nodeApp, sshUrl } from '../support/git.ts';
import { ENGINE } from '../support/world-engine.ts';

const { world, createApp, createTree, dispose } = await startDeveloper({
  env: { TANCHO_UNITS_START_TIMEOUT: '4s' },
});
afterAll(dispose);

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
    const work = await createTree(nodeApp('good'));
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
  });

  it('unknown platform files', async () => {
    await createApp('lost', 'python');
    const work = await createTree(nodeApp('x'));
    const pushed = await work.push(sshUrl(world, 'lost'));
    expect(pushed.code).not.toBe(0);
    expect(pushed.stderr).toContain('Deploy failed (no_platform)');
    expect((await world.fetchApp('lost')).status).toBe(503);
  });

  it('a missing app', async () => {
    const work = await createTree(nodeApp('x'));
    const pushed = await work.push(sshUrl(world, 'nowhere'));
    expect(pushed.code).not.toBe(0);
    expect(pushed.stderr).toContain('not found');
  });
});
