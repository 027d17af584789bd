import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { type MockProvider, startMockProvider } from '../mock/mock.ts';
import { type Rule } from '../mock/rules.ts';
import { checkProvider, type CheckReport } from './check.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const CREDENTIALS = { username: 'service', password: 'a password' };

function check(url: string, credentials: typeof CREDENTIALS | null = CREDENTIALS, timeoutMs = 5_000) {
  return checkProvider({ url, credentials, timeoutMs });
}

/** The names of the checks with that result. */
function named(report: CheckReport, result: string): string[] {
  return report.checks.filter((one) => one.result === result).map(({ name, reason }) => `${name}: ${reason}`);
}

describe('everything holds', () => {
  // For real servers: check-servers.long.test.ts.
  it('for the mock', async () => {
    const mock = await startMockProvider(CREDENTIALS);
    cleanups.push(() => mock.stop());
    const report = await check(mock.url);
    expect([named(report, 'fails'), named(report, 'skipped'), report.holds]).toEqual([[], [], true]);
    expect([...mock.instances.keys()]).toEqual([]);
  });
});

/** As providers were before apps were bound as a whole: without plans and info, and nothing is remembered of what was done. */
async function startOldProvider(notFound = 'not found'): Promise<string> {
  const instances = new Map<string, Set<string>>();
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const form = new URLSearchParams(body);
      const say = (status: number, words = ''): unknown => response.writeHead(status).end(words);
      const wanted = Buffer.from(`${CREDENTIALS.username}:${CREDENTIALS.password}`).toString('base64');
      if (request.headers.authorization !== `Basic ${wanted}`) return say(401);
      const [, , segment = '', below = ''] = (request.url ?? '').split('?')[0]?.split('/') ?? [];
      const call = `${request.method} ${below}`;
      if (segment === '' && call === 'POST ') {
        const name = form.get('name') ?? '';
        if (instances.has(name)) return say(409, 'duplicate');
        instances.set(name, new Set());
        return say(201);
      }
      const name = decodeURIComponent(segment);
      const units = instances.get(name);
      if (units === undefined || call === 'GET ') return say(404, notFound);
      if (call === 'DELETE ') return say(instances.delete(name) ? 200 : 404);
      if (call === 'GET status') return say(204);
      const unit = form.get('unit-host') ?? '';
      if (below !== 'bind') return say(404, notFound);
      if (unit === '') return say(400, 'unit-host is missing');
      if (request.method === 'DELETE') units.delete(unit);
      else units.add(unit);
      return say(201, JSON.stringify({ OLD_NAME: name }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('what the platform can live with makes nobody fail', async () => {
  const report = await check(await startOldProvider());
  expect(report.checks.filter(({ result, required }) => required && result === 'fails')).toEqual([]);
  expect(report.holds).toBe(true);
  expect(named(report, 'fails').join('\n')).toMatch(/^create again with the same Idempotency-Key: .*409/m);
});

describe('what does not hold is found', () => {
  async function against(rule: Rule, timeoutMs?: number): Promise<{ report: CheckReport; mock: MockProvider }> {
    const mock = await startMockProvider({ ...CREDENTIALS, rules: [rule] });
    cleanups.push(() => mock.stop());
    return { report: await check(mock.url, CREDENTIALS, timeoutMs), mock };
  }

  it.each<[Rule['on'], string]>([
    ['plans', 'create: an instance'],
    ['create', 'status: the instance comes up'],
    ['info', 'an unknown instance: info and status say 404'],
    ['status', 'an unknown instance: info and status say 404'],
    ['bind', 'an unknown instance: cannot be bound'],
    ['remove', 'after remove: the instance is unknown'],
  ])('a lie about %s', async (on, name) => {
    const { report } = await against({ on, do: 'lie' });
    expect(report.holds).toBe(false);
    expect(named(report, 'fails').join('\n')).toContain(name);
  });

  it('a page in place of the word that something is gone', async () => {
    const report = await check(await startOldProvider('<!doctype html><title>404 Not Found</title>'));
    expect(named(report, 'fails').join('\n')).toMatch(/^remove again: no harm: status 404 with a web page$/m);
    expect(report.holds).toBe(false);
  });

  it('a lie about remove names all that is still there', async () => {
    const { report, mock } = await against({ on: 'remove', do: 'lie' });
    const left = /is gone: remove by hand: (.*)$/m.exec(named(report, 'fails').join('\n'))?.[1]?.split(', ') ?? [];
    expect(mock.instances.size).toBeGreaterThan(1);
    expect(left.sort()).toEqual([...mock.instances.keys()].sort());
  });

  it('a lie about unbind, which no answer gives away, at least makes it suspicious', async () => {
    const { report } = await against({ on: 'unbind', do: 'lie' });
    expect(named(report, 'fails')).toEqual([
      'bind-app after unbind-app: new credentials: the old ones still work: unbinding takes nothing away',
    ]);
    expect(report.holds).toBe(true);
  });

  it.each<[Rule, RegExp]>([
    [{ on: 'bind', do: 'garbage' }, /^bind-app: .*not JSON/m],
    [{ on: 'bind', do: 'wrong-types' }, /^bind-app: .*(?:no text|quoted)/m],
    [{ on: 'bind', do: 'bad-names' }, /^bind-app: .*no name of an environment variable/m],
    [{ on: 'bind', do: 'huge' }, /^bind-app: .*longer than/m],
    [{ on: 'bind', do: 'cut' }, /^bind-app: .*(?:aborted|closed)/m],
    [{ on: 'create', do: 'fail', status: 503 }, /^create: an instance: status 503: asked to fail$/m],
    [{ on: 'info', do: 'wrong-types' }, /^info: .*not a list/m],
    [{ on: 'plans', do: 'garbage' }, /^plans: .*not JSON/m],
    [{ on: 'create', do: 'garbage' }, /^create: an instance: status 201 with a web page$/m],
    [{ on: 'unbind', do: 'garbage' }, /^unbind-app: the binding goes: status 200 with a web page$/m],
    [{ on: 'remove', do: 'garbage' }, /^remove: the instance goes: status 200 with a web page$/m],
    [{ on: 'remove', do: 'fail-after' }, /^remove: the instance goes: status 500/m],
    [{ on: 'unbind', do: 'die-after' }, /^unbind-app: the binding goes: /m],
    [{ on: 'bindUnit', do: 'fail' }, /^bind: hears of a unit: status 500/m],
    [{ on: 'all', do: 'redirect' }, /^it answers: it redirects/m],
  ])('%o', async (rule, expected) => {
    const { report } = await against(rule);
    expect(named(report, 'fails').join('\n')).toMatch(expected);
    expect(report.holds).toBe(false);
  });

  it.each<Rule>([
    { on: 'status', do: 'hang', times: 1 },
    { on: 'bind', do: 'drip', times: 1 },
  ])('%o', async (rule) => {
    const { report, mock } = await against(rule, 700);
    expect(named(report, 'fails').join('\n')).toContain('no complete answer within 700 ms');
    expect([...mock.instances.keys()]).toEqual([]);
  });

  it('leftovers that cannot be removed are named', async () => {
    const { report } = await against({ on: 'remove', do: 'fail' });
    expect(named(report, 'fails').join('\n')).toMatch(/is gone: remove by hand: check-[0-9a-f]+-/);
  });

  it('a provider that lets everybody in', async () => {
    const server = createServer((_, response) => response.setHeader('content-type', 'application/json').end('[]'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => new Promise((resolve) => server.close(resolve)));
    const report = await check(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(named(report, 'fails').join('\n')).toMatch(/^no credentials: refused: GET \/resources\/plans: status 200/m);
    expect(report.holds).toBe(false);
  });

  it('a provider that wants a password, when none is given', async () => {
    const mock = await startMockProvider(CREDENTIALS);
    cleanups.push(() => mock.stop());
    const report = await check(mock.url, null);
    expect(named(report, 'fails')).toEqual([expect.stringContaining('give --username and --password')]);
    expect(report.holds).toBe(false);
    expect(mock.asked).toEqual([]);
  });

  it('nobody there', async () => {
    const report = await check('http://127.0.0.1:1');
    expect(named(report, 'fails')).toEqual([expect.stringMatching(/^it answers: .*ECONNREFUSED/)]);
    expect(report.holds).toBe(false);
  });
});

it('no secret of the provider is in the report', async () => {
  const mock = await startMockProvider(CREDENTIALS);
  cleanups.push(() => mock.stop());
  const text = JSON.stringify(await check(mock.url));
  expect(text).not.toContain('mock://');
  expect(text).not.toContain(CREDENTIALS.password);
});
