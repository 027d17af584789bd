import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliWorld } from '../../test/support/cli-world.ts';
import { empty, json, problem, type ScriptedPlatform, startPlatform } from '../../test/support/scripted-platform.ts';
import { readTargets, targetsPath, writeTargets } from './target-store.ts';
import { normalUrl } from './target.ts';

let world: CliWorld;
const closers: (() => Promise<void>)[] = [];
beforeEach(() => {
  world = new CliWorld();
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  world.dispose();
});

async function platform(version: string, socketPath?: string): Promise<ScriptedPlatform> {
  const replies = {
    'GET /users/info': json({ Email: `me@${version}`, Teams: ['red'] }),
    'POST /users/me%40b.cc/tokens': json({ token: `token-of-${version}` }),
    'POST /users/you%40b.cc/tokens': problem(401, 'auth.wrong_password', 'Authentication failed, wrong password.'),
    'DELETE /users/tokens': empty,
    'DELETE /users/sessions': empty,
    'POST /users': empty,
  };
  const started = await startPlatform(replies, socketPath === undefined ? {} : { socketPath });
  closers.push(started.close);
  return started;
}

async function machine(): Promise<ScriptedPlatform> {
  await mkdir(join(world.home, 'run'));
  return platform('socket', join(world.home, 'run', 'api.sock'));
}

const login = (url: string, email = 'me@b.cc') =>
  world.run(['login', url, '--email', email], { stdin: 'secret\nmore\n' });

describe('the platform of a command', () => {
  it('is the option, else the variable, else the saved login, else this machine', async () => {
    const [option, variable, saved] = [await platform('o'), await platform('v'), await platform('s')];
    await machine();
    const who = async (argv: string[] = [], env: Record<string, string> = {}) =>
      JSON.parse((await world.run(['whoami', '--json', ...argv], { env })).out) as { email: string; via: string };
    expect(await who()).toMatchObject({ email: 'me@socket', via: 'socket' });
    await login(saved.url);
    expect(await who()).toMatchObject({ email: 'me@s', via: 'login' });
    expect(await who([], { TANCHO_TARGET: variable.url })).toMatchObject({ email: 'me@v', via: 'variable' });
    const both = await who(['--target', option.url], { TANCHO_TARGET: variable.url });
    expect(both).toMatchObject({ email: 'me@o', via: 'option' });
    expect(saved.asked.at(-1)?.headers.authorization).toBe('bearer token-of-s');
    expect(option.asked.at(-1)?.headers.authorization).toBeUndefined();
  });

  it('on the machine itself needs no token', async () => {
    const own = await machine();
    const { code, out } = await world.run(['whoami']);
    expect(code).toBe(0);
    expect(out).toMatch(/Platform: +this machine/);
    expect(own.asked[0]?.headers.authorization).toBeUndefined();
  });

  it('that is none is reported with what to do', async () => {
    const { code, err } = await world.run(['app', 'list']);
    expect(code).toBe(1);
    expect(err).toMatch(
      /No platform is chosen, and none runs on this machine\.\n {2}Hint: .*tancho login .*tancho server/,
    );
  });

  it('a socket that nobody serves any more counts as none', async () => {
    const own = await machine();
    await own.close();
    closers.splice(0);
    await writeFile(join(world.home, 'run', 'api.sock'), '');
    expect((await world.run(['app', 'list'])).err).toMatch(/No platform is chosen/);
  });

  it('that cannot be reached is reported in one line', async () => {
    const gone = await platform('g');
    await closers.pop()?.();
    const { code, err } = await world.run(['app', 'list', '--target', gone.url]);
    expect(code).toBe(1);
    expect(err).toMatch(/cannot be reached: nothing listens there\.\n {2}Hint: /);
  });

  it('is written in one way', () => {
    expect(normalUrl('127.0.0.1:8080')).toBe('http://127.0.0.1:8080');
    expect(normalUrl('https://paas.example.com/x/')).toBe('https://paas.example.com/x');
    expect(() => normalUrl('http://user:pw@host')).toThrow(/must not hold a password/);
    expect(() => normalUrl('ftp://host')).toThrow(/not the address/);
  });
});

describe('login', () => {
  it('reads the password from standard input, keeps the token for the owner only, leaves no other file', async () => {
    const { url, asked } = await platform('s');
    const { code, out, err } = await login(url);
    expect({ code, out, err }).toEqual({ code: 0, out: `Logged in to ${url} as me@b.cc.\n`, err: '' });
    expect(asked[0]?.body).toBe('{"password":"secret"}');
    const path = targetsPath(world.env);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
    expect(await readdir(dirname(path))).toEqual(['targets.json']);
    expect(await readTargets(world.env)).toEqual({
      current: url,
      targets: { [url]: { email: 'me@b.cc', token: 'token-of-s' } },
    });
    expect(await readFile(path, 'utf8')).not.toContain('secret');
  });

  it('that is refused is reported where no platform was in use before', async () => {
    const { url } = await platform('s');
    const { code, err } = await login(url, 'you@b.cc');
    expect({ code, err }).toEqual({ code: 1, err: 'Error: Authentication failed, wrong password.\n' });
  });

  it('at something else says so', async () => {
    const other = await startPlatform({
      'POST /users/me%40b.cc/tokens': (_, response) => {
        response.statusCode = 404;
        response.end('404 Not Found\n\nNo app answers here.\n');
      },
    });
    closers.push(other.close);
    expect((await login(other.url)).err).toMatch(/What answers there is no Tancho API\.\n {2}Hint: .*8080/);
  });

  it('warns of a password that goes to another machine in the clear', async () => {
    for (const url of ['http://127.example.invalid', 'http://paas.invalid:8080']) {
      expect((await login(url)).err).toContain(`Warning: ${url} is not encrypted`);
    }
    expect((await login('https://paas.invalid')).err).not.toContain('Warning');
  });

  it('that is refused changes nothing', async () => {
    const { url } = await platform('s');
    await login(url);
    const before = await readTargets(world.env);
    const { code, err } = await login(url, 'you@b.cc');
    expect(code).toBe(1);
    expect(err).toMatch(/wrong password/);
    expect(await readTargets(world.env)).toEqual(before);
  });

  it('without a terminal needs --email and a password', async () => {
    const { url } = await platform('s');
    expect((await world.run(['login', url])).err).toMatch(/Give it with --email/);
    expect(await world.run(['login', url, '--email', 'me@b.cc'])).toMatchObject({ code: 2 });
  });

  it('respects XDG_CONFIG_HOME', () => {
    expect(targetsPath({ HOME: '/h', XDG_CONFIG_HOME: '/x' })).toBe('/x/tancho/targets.json');
  });

  it('a damaged file is reported, with the way out', async () => {
    await writeTargets(world.env, { current: '', targets: {} });
    await writeFile(targetsPath(world.env), '{"current":1}');
    expect((await world.run(['app', 'list'])).err).toMatch(/is damaged\.\n {2}Hint: Remove it/);
  });
});

describe('logout', () => {
  it('ends the session there and forgets it here', async () => {
    const { url, lines } = await platform('s');
    await login(url);
    expect((await world.run(['logout'])).out).toBe(`Logged out of ${url}.\n`);
    expect(lines().at(-1)).toBe('DELETE /users/tokens');
    expect(await readTargets(world.env)).toEqual({ current: '', targets: {} });
    expect((await world.run(['logout'])).err).toMatch(/You are not logged in/);
  });

  it('ends every session with --everywhere', async () => {
    const { url, lines } = await platform('s');
    await login(url);
    expect(await world.run(['logout', '--everywhere'])).toMatchObject({
      code: 0,
      out: `Logged out of ${url}, everywhere.\n`,
    });
    expect(lines().at(-1)).toBe('DELETE /users/sessions');
  });

  it('of a platform that is gone still forgets it here', async () => {
    const { url } = await platform('s');
    await login(url);
    await closers.pop()?.();
    const { code, err } = await world.run(['logout']);
    expect(code).toBe(0);
    expect(err).toMatch(/^Warning: /);
    expect((await readTargets(world.env)).current).toBe('');
  });

  it('everywhere, of a platform that is gone, fails and keeps the login that it takes', async () => {
    const { url } = await platform('s');
    await login(url);
    await closers.pop()?.();
    expect(await world.run(['logout', '--everywhere'])).toMatchObject({ code: 1, out: '' });
    expect((await readTargets(world.env)).current).toBe(url);
  });
});

it('user create sends e-mail and password and says how to log in', async () => {
  const own = await machine();
  const { out } = await world.run(['user', 'create', 'new@b.cc'], { stdin: 'secret\n' });
  expect(own.asked[0]).toMatchObject({ line: 'POST /users', body: '{"email":"new@b.cc","password":"secret"}' });
  expect(out).toBe('User new@b.cc created. To log in: tancho login --email new@b.cc\n');
});
