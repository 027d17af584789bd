/** Bodies are read by the process that serves everybody, before it is known who may do what. */
import { request } from 'node:http';
import { text as allText } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { login, somebodyWithApp, targetAt } from '../../test/contract/target.ts';
import { ADMIN, startMemoryApi } from '../../test/support/memory-api.ts';
import { processorMs } from '../../test/support/processor-ms.ts';
import { FORM, readBodyFields } from './body.ts';
import { readEnvSet } from './operations/env-input.ts';
import { readNewInstance } from './operations/instance-input.ts';

const body = (text: string) => ({ text, mediaType: FORM });
const unlabelled = (text: string) => ({ text, mediaType: '' });

it.each<[string, () => unknown]>([
  ['a form with one name again and again', () => readBodyFields(body('a=&'.repeat(300_000)))],
  [
    'a form with very many names',
    () => readNewInstance(body(Array.from({ length: 100_000 }, (_, at) => `a${at}=`).join('&')), 'db'),
  ],
  ['variables with much white space between them', () => readEnvSet(unlabelled(`A=1${' '.repeat(600_000)};`), {})],
])('%s is read in time', (_what, read) => {
  const begun = processorMs();
  expect(read()).toBeDefined();
  expect(processorMs() - begun).toBeLessThan(10_000);
});

it('are as long as the operation can make use of, and who sends longer ones reads why', async () => {
  const { baseUrl, server } = await startMemoryApi();
  onTestFinished(() => server.close());
  const target = await targetAt({ baseUrl, adminEmail: ADMIN.email, adminPassword: ADMIN.password });
  const { token, app } = await somebodyWithApp(target, await login(target, ADMIN.email, ADMIN.password));
  const post = (path: string, kib: number): Promise<{ status: number | undefined; text: string }> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: token, 'content-length': kib * 1024 };
      const sent = request(`${baseUrl}${path}`, { method: 'POST', headers, agent: false }, (response) => {
        allText(response).then((text) => resolve({ status: response.statusCode, text }), reject);
      });
      sent.on('error', reject).end(' '.repeat(kib * 1024));
    });
  for (const [path, most] of [
    ['/teams', 256],
    [`/apps/${app}/env`, 2_048],
    [`/users/${ADMIN.email}/tokens`, 64],
  ] as const) {
    expect((await post(path, most)).status, path).toBe(400);
    for (const kib of [most + 1, 6_000]) {
      const { status, text } = await post(path, kib);
      expect([status, text], path).toEqual([413, expect.stringContaining(`at most ${most} KiB`)]);
    }
  }
  expect((await post('/services/proxy/db', 8_192)).status).toBe(404);
});
