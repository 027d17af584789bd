/** Bursts of requests at the same time against the real program: whoever wins, what is left is whole and nothing acknowledged is lost. */
import { execFileSync } from 'node:child_process';
import http from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PASSWORD } from '../../src/backends/service-endpoint/testing/faulty-server.ts';
import { type HttpProvider, startHttpProvider } from '../../src/backends/service-endpoint/testing/http-provider.ts';
import { archive } from '../support/archives.ts';
import { nodeApp } from '../support/git.ts';
import { until } from '../support/until.ts';
import { type HttpAnswer, startWorld, type World } from '../support/world.ts';

const WAIT_MS = 60_000;

let world: World;
let provider: HttpProvider;
let token: string;
let code: Buffer;

beforeAll(async () => {
  world = await startWorld();
  provider = await startHttpProvider();
  provider.variables = { GREETING: 'bound' };
  token = await world.login();
  code = await archive(nodeApp('hello'));
  const manifest = `id: db\nusername: platform\npassword: ${PASSWORD}\nendpoint:\n  production: ${provider.url}\n`;
  expect((await api('POST', '/services', manifest)).status).toBe(200);
  expect((await api('POST', '/services/instances', { name: 'one', service_name: 'db' })).status).toBe(200);
});

afterAll(async () => {
  await world.dispose();
  await provider.close();
});

function api(method: string, where: string, body?: object | string, as = token): Promise<HttpAnswer> {
  const text = typeof body === 'object' ? JSON.stringify(body) : body;
  return world.api(method, where, { token: as, ...(text !== undefined && { body: text }) });
}

/** `ok`, or what the answer says instead: streams report failures in their body. */
function outcome({ status, text }: HttpAnswer): string {
  const lines = text.split('\n').filter((line) => line.startsWith('{"Message"'));
  const failed = lines
    .map((line) => (JSON.parse(line) as { Error?: string }).Error ?? '')
    .find((error) => error !== '');
  return status < 300 && failed === undefined ? 'ok' : `${status} ${failed ?? text}`.trim();
}

async function deploy(app: string, what = code): Promise<string> {
  const response = await fetch(`${world.apiUrl}/apps/${app}/deploy`, {
    method: 'POST',
    headers: { authorization: `bearer ${token}`, 'content-type': 'application/gzip' },
    body: new Uint8Array(what),
  });
  const text = await response.text();
  return /\nOK\n$/.test(text) ? 'ok' : `${response.status} ${text.trim().split('\n').at(-1)}`;
}

interface AppFacts {
  readonly State: string;
  readonly Units: readonly { readonly ID: string; readonly Status: string }[];
  readonly lock?: { readonly Locked: boolean };
  readonly cname?: readonly string[];
}

const info = async (app: string): Promise<AppFacts> => (await api('GET', `/apps/${app}`)).json<AppFacts>();
const env = async (app: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await api('GET', `/apps/${app}/env`))
      .json<{ name: string; value: string }[]>()
      .map(({ name, value }) => [name, value]),
  );

async function createApp(name: string, isDeployed = true): Promise<void> {
  expect(outcome(await api('POST', '/apps', { name, platform: 'nodejs', teamOwner: 'main' }))).toBe('ok');
  if (isDeployed) expect(await deploy(name)).toBe('ok');
}

/** At rest and serving, with so many units, none of them stuck. */
async function expectWhole(app: string, units = 1): Promise<void> {
  let seen: AppFacts | null = null;
  await until(
    async () => {
      seen = await info(app);
      return (
        seen.lock?.Locked !== true &&
        seen.Units.length === units &&
        seen.Units.every((unit) => unit.Status === 'started')
      );
    },
    { timeoutMs: WAIT_MS, what: `${app} to be whole`, detail: () => JSON.stringify(seen) },
  );
  expect((await world.fetchApp(app)).status).toBe(200);
}

const times = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
const asked = (method: string, where: string, body?: object | string, as?: string): Promise<string> =>
  api(method, where, body, as).then(outcome);

/** But for what is undone and only watched for some minutes, in case a provider comes to it late. */
async function healersFind(): Promise<unknown[]> {
  const healers = (await api('GET', '/healers')).json<Record<string, string>[]>().flatMap((one) => Object.keys(one));
  const found: { readonly problem: string }[] = [];
  for (const name of healers) {
    found.push(...(await api('GET', `/healers/${name}`)).json<{ found: { problem: string }[] }>().found);
  }
  return found.filter(({ problem }) => !problem.includes('comes to it late'));
}

/** What the app has of the binding, and what the provider thinks. */
async function expectAgreed(app: string): Promise<void> {
  let facts = '';
  await until(
    async () => {
      const isBound = 'GREETING' in (await env(app));
      facts = `${isBound}, provider: ${[...provider.bindings].join()}`;
      return isBound === provider.bindings.has(`one ${app}.localhost`);
    },
    { timeoutMs: WAIT_MS, what: `${app} and the provider to agree`, detail: () => facts },
  );
}

it('all that is done to one app at once is done, one after the other', async () => {
  await createApp('busy');
  await createApp('partner');
  await createApp('left0', false);
  const second = await archive(nodeApp('second'));
  const answers = await Promise.all([
    deploy('busy'),
    deploy('busy', second),
    ...times(3).map((n) => asked('POST', '/apps/busy/env', { [`V${n}`]: 'x' })),
    ...times(3).map(() => asked('PUT', '/apps/busy/units', 'units=1')),
    asked('DELETE', '/apps/busy/units?units=1'),
    asked('PUT', '/services/instances/one/busy'),
    asked('PUT', '/swap?app1=busy&app2=partner&force=true'),
    asked('PUT', '/swap?app1=partner&app2=busy&force=true'),
    asked('POST', '/apps/busy/restart'),
  ]);
  expect(
    answers.filter((answer) => !/^(?:ok|.*only \d+ available.*|.*Cannot remove all units.*)$/s.test(answer)),
  ).toEqual([]);
  await expectWhole('busy', answers.filter((answer) => answer !== 'ok').length === 0 ? 3 : 4);
  expect(await env('busy')).toMatchObject({ V0: 'x', V1: 'x', V2: 'x', GREETING: 'bound' });
  await expectAgreed('busy');
  expect(await asked('DELETE', '/services/instances/one')).toMatch(/^409 .*bound to at least one app/);
  const last = await Promise.all([
    asked('DELETE', '/apps/busy'),
    deploy('busy'),
    asked('POST', '/apps/busy/env', { A: '1' }),
    asked('PUT', '/services/instances/one/busy'),
  ]);
  expect(last[0]).toBe('ok');
  await until(async () => !provider.bindings.has('one busy.localhost'), {
    timeoutMs: WAIT_MS,
    what: 'the app to be unbound',
  });
  expect((await api('GET', '/apps/busy')).status).toBe(404);
});

it('what is needed and what is taken away at the same time never both succeed', async () => {
  const person = { email: 'ben@example.com', password: 'secret word' };
  await api('POST', '/users', person);
  const ben = await world.login(person.email, person.password);
  expect(await asked('POST', '/teams', { name: 'bens' }, ben)).toBe('ok');
  expect(await asked('PUT', `/users/${person.email}/quota`, { limit: 3 })).toBe('ok');
  const made = await Promise.all(
    times(50).map((n) => asked('POST', '/apps', { name: `q${n}`, platform: 'nodejs' }, ben)),
  );
  expect(made.filter((answer) => answer === 'ok')).toHaveLength(3);
  expect(new Set(made).size).toBe(2);
  expect((await api('GET', `/quota/${person.email}`)).text).toBe('{"items":3,"available":0}');

  const create = (name: string, more: object) =>
    asked('POST', '/apps', { name, platform: 'nodejs', teamOwner: 'main', ...more });
  const instance = (name: string, more: object) =>
    asked('POST', '/services/instances', { name, service_name: 'db', owner: 'main', ...more });
  for (const n of times(6)) {
    const [pool, team] = [`pool${n}`, `team${n}`];
    await api('POST', '/pools', { name: pool, public: true });
    await api('POST', '/teams', { name: team });
    await api('PUT', `/teams/${team}/${person.email}`);
    const pairs = await Promise.all([
      Promise.all([create(`p${n}`, { pool }), asked('DELETE', `/pools/${pool}`)]),
      Promise.all([instance(`t${n}`, { owner: team }), asked('DELETE', `/teams/${team}`)]),
      Promise.all([
        asked('POST', '/apps/partner/cname', { cname: [`www${n}.example.com`] }),
        asked('POST', '/apps/left0/cname', { cname: [`www${n}.example.com`] }),
      ]),
    ]);
    for (const pair of pairs)
      expect(
        pair.filter((answer) => answer === 'ok'),
        pair.join(' | '),
      ).toHaveLength(1);
    await api('POST', '/teams', { name: `both${n}` });
    await api('PUT', `/teams/both${n}/${person.email}`);
    const leaving = await Promise.all([
      asked('DELETE', `/teams/both${n}/${person.email}`, undefined, ben),
      asked('DELETE', `/teams/both${n}/${world.adminEmail}`),
    ]);
    expect(
      leaving.filter((answer) => answer === 'ok'),
      leaving.join(' | '),
    ).toHaveLength(1);
  }
  const same = await Promise.all(times(10).map(() => instance('same', {})));
  expect(same.filter((answer) => answer === 'ok')).toHaveLength(1);
  expect([...provider.instances.keys()].filter((name) => name === 'same')).toHaveLength(1);
});

it('nothing is stuck and nothing acknowledged is lost when it is killed in the middle', async () => {
  const apps = ['ka', 'kb'];
  for (const app of apps) await createApp(app);
  const kept = new Map(apps.map((app) => [app, new Set<string>()]));
  for (const [round, afterMs] of [150, 700, 1_500].entries()) {
    const acknowledged: string[] = [];
    const note = (what: string, work: Promise<string>): Promise<void> =>
      work.then(
        (answer) => void (answer === 'ok' && acknowledged.push(what)),
        () => undefined,
      );
    const burst = apps.flatMap((app, n) => [
      note(`${app} env`, asked('POST', `/apps/${app}/env`, { [`R${round}`]: 'x' })),
      note(`${app} deploy`, deploy(app)),
      note(`${app} bind`, asked(round % 2 === 0 ? 'PUT' : 'DELETE', `/services/instances/one/${app}`)),
      note(`${app} restart`, asked('POST', `/apps/${app}/restart`)),
      note(
        `app new${round}${n}`,
        asked('POST', '/apps', { name: `new${round}${n}`, platform: 'nodejs', teamOwner: 'main' }),
      ),
      note(
        `instance in${round}${n}`,
        asked('POST', '/services/instances', { name: `in${round}${n}`, service_name: 'db', owner: 'main' }),
      ),
    ]);
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    await world.end('SIGKILL');
    await Promise.all(burst);
    await world.startAgain();
    for (const app of apps) {
      if (acknowledged.includes(`${app} env`)) kept.get(app)?.add(`R${round}`);
      await expectWhole(app);
      await expectAgreed(app);
      expect(Object.keys(await env(app))).toEqual(expect.arrayContaining([...(kept.get(app) ?? [])]));
      expect(await asked('POST', `/apps/${app}/restart`)).toBe('ok');
    }
    const there = [(await api('GET', '/apps')).text, (await api('GET', '/services/instances')).text].join();
    for (const what of acknowledged) {
      const name = /^(?:app|instance) (.*)$/.exec(what)?.[1];
      if (name !== undefined) expect(there).toContain(`"${name}"`);
    }
    await until(async () => (await healersFind()).length === 0, {
      timeoutMs: WAIT_MS,
      what: 'nothing to be left to heal',
    });
    for (const name of provider.instances.keys()) expect(there).toContain(`"${name}"`);
  }
});

function cut(method: string, where: string, body: string | Buffer, after: number | Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `bearer ${token}`, 'content-length': String(Buffer.byteLength(body)) };
    const type = typeof body === 'string' ? {} : { 'content-type': 'application/gzip' };
    const request = http.request(new URL(where, world.apiUrl), {
      method,
      headers: { ...headers, ...type },
      agent: false,
    });
    request.on('error', () => undefined);
    request.on('response', (response) => response.on('error', () => undefined).resume());
    request.end(body);
    const left = (): void => {
      request.destroy();
      resolve();
    };
    if (typeof after === 'number') setTimeout(left, after);
    else after.finally(left).catch(reject);
  });
}

it('a caller who goes away leaves nothing half-done and nothing running', async () => {
  await createApp('left');
  for (const afterMs of [20, 100, 250]) {
    await cut('POST', '/apps/left/deploy', code, afterMs);
    await expectWhole('left');
  }
  for (const afterMs of [5, 100]) {
    await cut('PUT', '/services/instances/one/left', '', afterMs);
    await expectWhole('left');
    await expectAgreed('left');
    await api('DELETE', '/services/instances/one/left');
  }
  const marker = `9876.${process.pid}`;
  const isRunning = (): boolean =>
    execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
      .split('\n')
      .some((line) => /^sleep /.test(line) && line.includes(marker));
  const runs = until(async () => isRunning(), { timeoutMs: WAIT_MS, what: 'the command to run' });
  await cut('POST', '/apps/left/run', `sleep ${marker}`, runs);
  await runs;
  await until(async () => !isRunning(), { timeoutMs: WAIT_MS, what: 'the command to be ended' });
  const open = (): number => execFileSync('ls', [`/proc/${world.pid}/fd`], { encoding: 'utf8' }).split('\n').length;
  const before = open();
  await Promise.all(times(30).map(() => cut('GET', '/apps/left/log?lines=10&follow=1', '', 300)));
  await until(async () => open() <= before + 2, { timeoutMs: WAIT_MS, what: 'the followers to be let go' });
  expect(await healersFind()).toEqual([]);
});
