/** What the users of apps are refused at the API, where they reach it: as real users, over real sockets. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ADMIN, type MemoryApi, startMemoryApi } from '../../test/support/memory-api.ts';
import { EdgeRig } from '../../test/support/edge-rig.ts';
import { login, targetAt } from '../../test/contract/target.ts';
import { peerUser } from '../lib/peer-user.ts';

const APP_USER = 65_534;
const why = process.getuid?.() === 0 ? null : 'to become another user takes root';

let api: MemoryApi;
let directory: string;
let edgeDoor: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'door-'));
  edgeDoor = join(directory, 's');
  api = await startMemoryApi({ edgeDoor, appUsers: { from: APP_USER, to: APP_USER, userOf: peerUser } });
});
afterEach(async () => {
  await api.server.close();
  await rm(directory, { recursive: true, force: true });
});

const CODE = `const [method, url, body, token, host] = process.argv.slice(1);
const headers = { ...(host !== '' && { host }), ...(token !== '' && { authorization: 'bearer ' + token }) };
require('node:http').request(url, { method, headers }, (answer) => { console.log(answer.statusCode); answer.resume(); }).end(body);`;

interface Asked {
  readonly uid: number;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly token?: string;
  /** By way of this edge. */
  readonly edge?: EdgeRig;
}

const HOST = 'api.test';

/** The status. */
function ask({ uid, method, path, body, token = '', edge }: Asked): Promise<number> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const base = edge === undefined ? api.baseUrl : `http://127.0.0.1:${edge.port}`;
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      ['-e', CODE, method, base + path, text, token, edge === undefined ? '' : HOST],
      { uid, gid: uid },
      (error, out) => (error === null ? resolve(Number(out)) : reject(error)),
    );
  });
}

it('an account, a login and whatever else needs no token; with a token, and for all others, it is as ever', async (context) => {
  if (why !== null) return context.skip(why);
  const made = { method: 'POST', path: '/users', body: { email: 'thief@example.com', password: 'secret12' } };
  expect(await ask({ uid: APP_USER, ...made })).toBe(403);
  expect(await ask({ uid: 0, ...made })).toBe(200);
  const entry = { method: 'POST', path: `/users/${ADMIN.email}/tokens`, body: { password: ADMIN.password } };
  expect(await ask({ uid: APP_USER, ...entry })).toBe(403);
  const target = await targetAt({ baseUrl: api.baseUrl, adminEmail: ADMIN.email, adminPassword: ADMIN.password });
  const token = await login(target, ADMIN.email, ADMIN.password);
  expect(await ask({ uid: APP_USER, method: 'GET', path: '/apps', token })).toBeLessThan(300);
  expect(await ask({ uid: APP_USER, method: 'GET', path: '/apps', token: 'wrong' })).toBe(403);
});

it('nor do they get it by way of the edge, whatever they say of themselves', async (context) => {
  if (why !== null) return context.skip(why);
  const edge = await EdgeRig.start({ platform: { hosts: [HOST], socket: edgeDoor } });
  try {
    const made = { method: 'POST', path: '/users', edge };
    expect(await ask({ uid: APP_USER, ...made, body: { email: 'thief@example.com', password: 'secret12' } })).toBe(403);
    expect(await ask({ uid: 0, ...made, body: { email: 'ann@example.com', password: 'secret12' } })).toBe(200);
    const lie = 'POST /users HTTP/1.1\r\nHost: api.test\r\nX-Forwarded-Client-Ports: 1, 2\r\nConnection: close\r\n';
    const body = JSON.stringify({ email: 'eve@example.com', password: 'secret12' });
    expect(await edge.exchange(`${lie}Content-Length: ${body.length}\r\n\r\n${body}`)).toMatch(/^HTTP\/1\.1 200/);
  } finally {
    await edge.stop();
  }
});
