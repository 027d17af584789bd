/** What the users of apps are refused at the API, where they reach it: as real users, over real sockets. */
import { execFile } from 'node:child_process';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ADMIN, type MemoryApi, startMemoryApi } from '../../test/support/memory-api.ts';
import { login, targetAt } from '../../test/contract/target.ts';
import { peerUser } from '../lib/peer-user.ts';

const APP_USER = 65_534;
const why = process.getuid?.() === 0 ? null : 'to become another user takes root';
if (why !== null) console.warn(`what the users of apps are refused is not tested: ${why}`);

let api: MemoryApi;
beforeEach(async () => {
  api = await startMemoryApi({ appUsers: { from: APP_USER, to: APP_USER, userOf: peerUser } });
});
afterEach(() => api.server.close());

const CODE = `const [method, url, body, token] = process.argv.slice(1);
const headers = token === '' ? {} : { authorization: 'bearer ' + token };
fetch(url, { method, headers, ...(body !== '' && { body }) }).then((answer) => console.log(answer.status));`;

interface Asked {
  readonly uid: number;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly token?: string;
}

/** The status. */
function ask({ uid, method, path, body, token = '' }: Asked): Promise<number> {
  const text = body === undefined ? '' : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      ['-e', CODE, method, api.baseUrl + path, text, token],
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
