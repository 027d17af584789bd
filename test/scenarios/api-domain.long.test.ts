/** The API, the dashboard and git over HTTP behind the edge, at a name of their own. */
import { execFile } from 'node:child_process';
import { request } from 'node:http';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allowPush, createIdentity, createWorkTree, type Identity, nodeApp } from '../support/git.ts';
import { startWorld, type World } from '../support/world.ts';

let world: World;
let ann: Identity;
let token: string;

beforeAll(async () => {
  world = await startWorld();
  ann = await createIdentity();
  token = await allowPush(world, ann);
});

afterAll(async () => {
  await world.dispose();
  await ann.dispose();
});

function ask(method: string, path: string, body = ''): Promise<{ status: number; text: string }> {
  const [host = '', port = ''] = world.edge.split(':');
  const headers = {
    host: `api.localhost:${port}`,
    authorization: `bearer ${token}`,
    'content-type': 'application/json',
  };
  return new Promise((resolve, reject) => {
    const asked = request({ host, port, method, path, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

it('answers the API and the dashboard, and no app can have the name', async () => {
  expect(await ask('GET', '/healthcheck')).toMatchObject({ status: 200 });
  expect((await ask('GET', '/dashboard')).status).toBeLessThan(400);
  expect((await ask('GET', '/apps')).status).toBeLessThan(300);
  const taken = await ask('POST', '/apps', JSON.stringify({ name: 'api', platform: 'nodejs' }));
  expect(taken.status).toBe(400);
  expect(taken.text).toContain('reserved');
});

it('takes a push by git over HTTP, and goes on serving apps', async () => {
  expect((await ask('POST', '/apps', JSON.stringify({ name: 'shop', platform: 'nodejs' }))).status).toBe(200);
  const tree = await createWorkTree({ ...nodeApp('pushed'), 'large.bin': 'x'.repeat(4_000_000) });
  const [host = '', port = ''] = world.edge.split(':');
  const config = [
    ...['-c', `http.extraHeader=Host: api.localhost:${port}`],
    ...[
      '-c',
      `http.extraHeader=Authorization: Basic ${Buffer.from(`${world.adminEmail}:${token}`).toString('base64')}`,
    ],
  ];
  try {
    await promisify(execFile)('git', [...config, 'push', '-q', `http://${host}:${port}/git/shop.git`, 'HEAD:main'], {
      cwd: tree.dir,
    });
  } finally {
    await tree.dispose();
  }
  expect((await world.fetchApp('shop')).text).toContain('pushed');
});
