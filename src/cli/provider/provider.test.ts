import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CliWorld, type Ran } from '../../../test/support/cli-world.ts';
import { request } from '../../../test/support/world.ts';
import { type MockProvider, startMockProvider } from '../../providers/mock/mock.ts';
import { checkedProvider, said, servedDuring } from './provider-world.ts';

let world: CliWorld;
let mock: MockProvider | null = null;
beforeEach(() => {
  world = new CliWorld();
});
afterEach(async () => {
  world.dispose();
  await mock?.stop();
  mock = null;
});

describe('what a provider prints', () => {
  it('is an address, new credentials, and a manifest that has both', async () => {
    const { code, out } = await servedDuring(world, ['mock', '--name', 'fake'], (out) => checkedProvider(world, out));
    expect(code).toBe(0);
    const manifest = parse(out.slice(out.indexOf('id: '), out.indexOf('Ctrl-C')).trim()) as unknown;
    expect(manifest).toEqual({
      id: 'fake',
      username: 'fake',
      password: said(out, 'Password'),
      endpoint: { production: said(out, 'Address') },
    });
    expect(out.split(said(out, 'Password')).length - 1).toBe(2);
    expect(out).toMatch(/Stopping \.\.\.\n$/);
  });

  it('never has a password that was given, and the file has it', async () => {
    const env = { TANCHO_PROVIDER_PASSWORD: 'given-secret' };
    await writeFile(join(world.work, 'mock.yaml'), 'an older one', { mode: 0o644 });
    const argv = ['mock', '--manifest', 'mock.yaml', '--public-url', 'https://mock.example.com/'];
    const { out, err } = await servedDuring(world, argv, async () => {}, env);
    expect(out + err).not.toContain('given-secret');
    const file = join(world.work, 'mock.yaml');
    const production = 'https://mock.example.com';
    const expected = { id: 'mock', username: 'mock', password: 'given-secret', endpoint: { production } };
    expect(parse(await readFile(file, 'utf8'))).toEqual(expected);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await servedDuring(world, ['mock'], async () => {}, env)).out).not.toContain('given-secret');
  });

  it('warns of a password on the command line, and of open ways', async () => {
    const argv = ['mock', '--password', 'on-the-line', '--public-url', 'http://mock.example.com'];
    const { out, err } = await servedDuring(world, argv, async () => {});
    expect(err).toMatch(/^Warning: --password can be read by everybody/m);
    expect(err).toMatch(/^Warning: http:\/\/mock\.example\.com is not encrypted/m);
    expect(out + err).not.toContain('on-the-line');
  });

  it('is JSON for programs', async () => {
    const { seen } = await servedDuring(world, ['mock', '--json'], async () => {});
    expect(JSON.parse(seen)).toEqual({
      service: 'mock',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      username: 'mock',
      password: expect.stringMatching(/.{40,}/),
      manifest: expect.stringContaining('id: mock'),
    });
  });
});

describe('the mock', () => {
  it('misbehaves as its flags say, and prints what it was asked', async () => {
    const { err } = await servedDuring(
      world,
      ['mock', '--misbehave', 'create=fail:503', '--misbehave', 'plans=lie'],
      async (out) => {
        const basic = Buffer.from(`${said(out, 'Username')}:${said(out, 'Password')}`).toString('base64');
        const headers = { authorization: `Basic ${basic}` };
        const answer = await request(said(out, 'Address'), 'POST', '/resources', { headers, body: 'name=db' });
        expect(answer.status).toBe(503);
      },
    );
    expect(err).toBe('create name="db" -> fail\n');
  });

  it('says what is wrong with a rule', async () => {
    const { code, err } = await world.run(['provider', 'mock', '--misbehave', 'bind=sulk']);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('"do" is one of: fail, ') });
  });
});

/** With real ones: provider-servers.long.test.ts. */
describe('servers', () => {
  it.each([
    [['postgres'], 2, /--url is missing/],
    [['postgres', '--url', 'redis://x'], 2, /--url is not the address of such a server/],
    [['redis', '--url', 'redis://127.0.0.1:1'], 1, /Redis cannot be reached.*\n {2}Hint: Is the server of --url there/],
    [['postgres', '--url', 'postgres://a@127.0.0.1:1'], 1, /PostgreSQL cannot be reached/],
    [['mock', '--listen', 'nowhere'], 2, /--listen must be host:port/],
    [['mock', '--name', 'No Name'], 2, /--name must be/],
    [['mock', '--public-url', 'nowhere'], 2, /--public-url must be/],
    [['redis', '--url', 'redis://x', '--apps-host', 'a b'], 2, /--apps-host must be/],
  ])('%j fails clearly', async (argv, code, message) => {
    const ran = await world.run(['provider', ...argv]);
    expect({ code: ran.code, err: ran.err }).toEqual({ code, err: expect.stringMatching(message) });
  });

  it('says that a place is taken', async () => {
    mock = await startMockProvider();
    const { code, err } = await world.run(['provider', 'mock', '--listen', new URL(mock.url).host]);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/Another program already listens on 127/) });
  });
});

describe('check', () => {
  async function check(more: readonly string[] = []): Promise<Ran> {
    mock ??= await startMockProvider();
    const { url, username, password } = mock;
    const env = { TANCHO_PROVIDER_PASSWORD: password };
    return world.run(['provider', 'check', url, '--username', username, ...more], { env });
  }

  it('is a table that ends with the verdict', async () => {
    const { code, out } = await check();
    expect(code).toBe(0);
    expect(out).toMatch(/^RESULT +CHECK +TIME +REMARK\nholds +it answers +\d+ ms/);
    expect(out).toMatch(/\n\nThe contract holds: \d+ hold, 0 fail, 0 could be better, 0 skipped\.\n$/);
  });

  it('ends with 1 when something required does not hold, and says what', async () => {
    mock = await startMockProvider({ rules: [{ on: 'bind', do: 'garbage' }] });
    const { code, out } = await check();
    expect(code).toBe(1);
    expect(out).toMatch(/^FAILS +bind-app: variables for the app +\d+ ms +the answer is not JSON$/m);
    expect(out).toContain('The contract does not hold: ');
  });

  it('ends with 0 when something is only weak', async () => {
    mock = await startMockProvider({ rules: [{ on: 'unbind', do: 'lie' }] });
    const { code, out } = await check();
    expect(code).toBe(0);
    expect(out).toMatch(/^weak +bind-app after unbind-app/m);
  });

  it('is JSON for programs', async () => {
    const report = JSON.parse((await check(['--json'])).out) as { holds: boolean; checks: unknown[] };
    expect(report.holds).toBe(true);
    expect(report.checks[0]).toEqual({
      name: 'it answers',
      required: true,
      result: 'holds',
      reason: '',
      ms: expect.any(Number),
    });
  });

  it.each([
    [['nowhere'], /no address of a provider/],
    [['ftp://x'], /called by http or https/],
    [['http://x', '--timeout', 'long'], /--timeout must be/],
  ])('%j is wrong use', async (argv, message) => {
    const { code, err } = await world.run(['provider', 'check', ...argv]);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(message) });
  });
});
