/** What whoever balances over edges hears of one: whether it knows the apps, and that it is to end, before it takes no connection any more. */
import { afterEach, expect, it } from 'vitest';
import { EdgeRig } from '../../../test/support/edge-rig.ts';

let rig: EdgeRig;
afterEach(() => rig.stop());

const get = (path: string, host: string): Promise<string> =>
  rig.exchange(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);

const WORKS = /^HTTP\/1\.1 200 [^]*\r\n\r\nWORKING\n$/;

it('an edge that has heard of no app yet is not healthy, and says so to those who ask for one', async () => {
  rig = await EdgeRig.start();
  expect(await get('/healthcheck', '10.1.2.3:80')).toMatch(/^HTTP\/1\.1 503 [^]*has not heard yet/);
  const early = await get('/', 'blog.test');
  expect(early).toMatch(/^HTTP\/1\.1 503 /);
  expect(early).toMatch(/\r\nRetry-After: 1\r\n/);
  await rig.apply({ routes: [] });
  expect(await get('/healthcheck', '10.1.2.3:80')).toMatch(WORKS);
  expect(await get('/', 'blog.test')).toMatch(/^HTTP\/1\.1 404 /);
});

it("the path is the edge's at names that no app has only, and nothing else there is", async () => {
  rig = await EdgeRig.start();
  await rig.route(await rig.httpUnit((_request, response) => response.end('the app')));
  expect(await get('/healthcheck', 'blog.test')).toMatch(/\r\n\r\nthe app$/);
  expect(await get('/healthcheck', 'other.test')).toMatch(WORKS);
  expect(await get('/healthcheck/more', 'other.test')).toMatch(/^HTTP\/1\.1 404 /);
});

it('an edge that is about to end says so, takes connections, and closes each with its answer', async () => {
  rig = await EdgeRig.start();
  await rig.route(await rig.httpUnit((_request, response) => response.end('the app')));
  const kept = await rig.client();
  kept.send('GET / HTTP/1.1\r\nHost: blog.test\r\n\r\n');
  expect(await kept.until(/the app/)).not.toMatch(/\r\nConnection: close\r\n/);
  await rig.plane.leave();
  expect(await get('/healthcheck', '10.1.2.3')).toMatch(/^HTTP\/1\.1 503 [^]*about to end/);
  kept.received = '';
  for (const client of [kept, await rig.client()]) {
    client.send('GET / HTTP/1.1\r\nHost: blog.test\r\n\r\n');
    expect(await client.rest()).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n[^]*the app$/);
  }
});
