import { Agent, IncomingMessage, request } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { type MemoryApi, memoryUseCases, startMemoryApi } from '../../test/support/memory-api.ts';
import { Call } from './call.ts';
import { RequestTurns } from './request-turns.ts';
import { routesOf } from './routes.ts';
import { VARIANTS } from './variants.ts';

const AT_ONCE = 4;
const WAITING = 256;

let api: MemoryApi | null = null;
const agent = new Agent({ keepAlive: true });
afterEach(async () => {
  agent.destroy();
  await api?.server.close();
  api = null;
});

interface Got {
  readonly status: number;
  readonly text: string;
}

function ask(method: string, path: string, { token = '', body = {} } = {}): Promise<Got> {
  const headers = token === '' ? {} : { authorization: `bearer ${token}` };
  return new Promise((resolve, reject) => {
    const asked = request(`${api?.baseUrl}${path}`, { method, headers, agent }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    asked.on('error', reject).end(method === 'GET' ? undefined : JSON.stringify(body));
  });
}

async function tokenOf(email: string): Promise<string> {
  expect((await ask('POST', '/users', { body: { email, password: 'secret12' } })).status).toBe(200);
  const { text } = await ask('POST', `/users/${email}/tokens`, { body: { password: 'secret12' } });
  return (JSON.parse(text) as { token: string }).token;
}

it('has so many reads of a user under way, the next one waits, and others are answered meanwhile', async () => {
  const { useCases } = memoryUseCases(() => new Date());
  let held = 0;
  let goOn = (): void => {};
  const going = new Promise<void>((resolve) => (goOn = resolve));
  const teams: typeof useCases.teams = {
    ...useCases.teams,
    async list(caller) {
      if (caller.kind === 'user' && caller.email === 'eve@example.com') {
        held += 1;
        await going;
      }
      return useCases.teams.list(caller);
    },
  };
  api = await startMemoryApi({ useCases: { ...useCases, teams } });
  const [eve, ann] = [await tokenOf('eve@example.com'), await tokenOf('ann@example.com')];
  const all = Array.from({ length: AT_ONCE + 1 }, () => ask('GET', '/teams', { token: eve }));
  await expect.poll(() => held).toBeGreaterThanOrEqual(AT_ONCE);
  expect((await ask('GET', '/teams', { token: ann })).status).toBe(200);
  // Her own changes do not wait for what she reads, and neither does what may be slow itself.
  expect((await ask('GET', '/apps/nowhere/log', { token: eve })).status).toBe(404);
  expect((await ask('POST', '/teams', { token: eve, body: { name: 'evil' } })).status).toBe(200);
  expect(held).toBe(AT_ONCE);
  goOn();
  expect((await Promise.all(all)).map(({ status }) => status)).toEqual(all.map(() => 200));
  expect(held).toBe(AT_ONCE + 1);
});

it('has turns of their own for reads that wait for a provider or for git', async () => {
  const { useCases } = memoryUseCases(() => new Date());
  let held = 0;
  const never = (): Promise<never> => {
    held += 1;
    return new Promise(() => {});
  };
  const instances = { ...useCases.instances, ofService: never };
  const deploys = { ...useCases.deploys, info: never };
  api = await startMemoryApi({ useCases: { ...useCases, instances, deploys } });
  const eve = await tokenOf('eve@example.com');
  const paths = ['/services/db', '/deploys/0'].flatMap((path) => Array<string>(AT_ONCE).fill(path));
  const left = paths.map((path) => expect(ask('GET', path, { token: eve })).rejects.toThrow());
  await expect.poll(() => held).toBe(paths.length);
  expect((await ask('GET', '/teams', { token: eve })).status).toBe(200);
  agent.destroy();
  await Promise.all(left);
});

it('refuses what is more than may wait, and says when to come again', async () => {
  const turns = new RequestTurns();
  const request = new IncomingMessage(new Socket());
  const { operation } =
    VARIANTS.flatMap((variant) => routesOf(variant)).find(({ operation }) => operation.id === 'teams.list') ?? {};
  const begin = async (address: string): Promise<void> => {
    if (operation !== undefined) await turns.begin(new Call('id', request, address), operation, request);
  };
  for (let n = 0; n < AT_ONCE + WAITING; n++) void begin('10.0.0.1');
  await expect(begin('10.0.0.1')).rejects.toMatchObject({
    code: 'too_many_requests',
    details: { retryAfterSeconds: 5 },
  });
  await begin('10.0.0.2');
});
