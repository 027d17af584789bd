/** Programs that people run, unchanged and with their own configuration, from images of a registry: they listen where they always do, and serve. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ImageParts, ImageRegistry } from '../support/image-registry.ts';
import { createWorkTree, type Identity, allowPush, createIdentity, nodeApp, sshUrl } from '../support/git.ts';
import { nginxImage, redisImage, whoamiImage } from '../support/real-images.ts';
import { startWorld, type World } from '../support/world.ts';

let world: World;
let registry: ImageRegistry;
let ann: Identity;
let token: string;
let why = '';

beforeAll(async () => {
  registry = await ImageRegistry.start();
  world = await startWorld();
  ann = await createIdentity();
  token = await allowPush(world, ann);
  const isolation = /^Isolation: +(.*)$/m.exec(world.output())?.[1] ?? '';
  if (!isolation.includes('networks: own') || isolation.includes('images do not run')) why = isolation;
  if (why !== '') console.log(`real images are not run in these tests: ${why}`);
});

afterAll(async () => {
  await world.dispose();
  await registry.close();
  await ann.dispose();
});

async function create(app: string): Promise<void> {
  const made = await world.api('POST', '/apps', { token, body: JSON.stringify({ name: app, platform: 'nodejs' }) });
  expect(made.status, made.text).toBe(200);
}

/** The output of the deploy. */
async function deploy(app: string, image: ImageParts): Promise<string> {
  registry.addImage(`library/${app}`, '1', image);
  await create(app);
  const body = new URLSearchParams({ image: `${registry.host}/library/${app}:1`, origin: 'image' }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return (await world.api('POST', `/1.0/apps/${app}/deploy`, { token, body, headers })).text;
}

it('nginx, as Debian has it', async (context) => {
  const image = nginxImage();
  if (typeof image === 'string' || why !== '') return context.skip(why || String(image));
  expect(await deploy('nginx', image)).toMatch(/web nginx\/0 is up on port 80[^]*\nOK\n$/);
  const answer = await world.fetchApp('nginx');
  expect([answer.status, answer.headers['server'], answer.text]).toEqual([
    200,
    expect.stringMatching(/^nginx/),
    'served by nginx\n',
  ]);
  expect((await world.fetchApp('nginx', '/none')).status).toBe(404);
});

it('one program of Go that knows nothing of PORT', async (context) => {
  const image = await whoamiImage();
  if (typeof image === 'string' || why !== '') return context.skip(why || String(image));
  expect(await deploy('whoami', image)).toMatch(/web whoami\/0 is up on port 80[^]*\nOK\n$/);
  expect((await world.fetchApp('whoami', '/a?b')).text).toMatch(
    /^Hostname: .+\nHost: whoami\.localhost\nGET \/a\?b\n$/,
  );
});

/** Asks the Redis that its app is linked to. */
const READER = `const net = require('node:net');
require('node:http').createServer((req, res) => {
  const socket = net.connect(6379, 'cache.internal', () => socket.write('SET a kept\\r\\nGET a\\r\\n'));
  let text = '';
  socket.on('data', (data) => { text += data; if (text.includes('kept')) { socket.destroy(); res.end(text); } });
  socket.on('error', (error) => { res.statusCode = 500; res.end(error.message); });
}).listen(process.env.PORT);
`;

it('redis, for the app that is linked to it', async (context) => {
  const image = redisImage();
  if (typeof image === 'string' || why !== '') return context.skip(why || String(image));
  expect(await deploy('cache', image)).toMatch(/web cache\/0 is up on port 6379[^]*\nOK\n$/);
  await create('reader');
  const work = await createWorkTree({ ...nodeApp(''), 'server.js': READER }, ann);
  try {
    expect((await work.push(sshUrl(world, 'reader'))).code).toBe(0);
    const linked = await world.cli(['app', 'link', 'reader', 'cache']);
    expect([linked.code, linked.stderr]).toEqual([0, '']);
    const answer = await world.fetchApp('reader');
    expect([answer.status, answer.text]).toEqual([200, '+OK\r\n$4\r\nkept\r\n']);
  } finally {
    await work.dispose();
  }
});
