import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliWorld, type RunOptions } from '../../test/support/cli-world.ts';
import { empty, json, problem, type Reply, startPlatform, stream } from '../../test/support/scripted-platform.ts';

const shop = {
  Name: 'shop',
  Framework: 'nodejs',
  Repository: 'ssh://git@h:2222/shop.git',
  State: 'started',
  Ip: 'shop.localhost:8000',
  Units: [{ Name: 'shop/0', ProcessName: 'web', State: 'started', Ip: '127.0.0.1' }],
  Teams: ['red', 'blue'],
  Pool: 'default',
  teamowner: 'red',
};

let world: CliWorld;
const closers: (() => Promise<void>)[] = [];
beforeEach(() => {
  world = new CliWorld();
});
afterEach(async () => {
  world.dispose();
  for (const close of closers.splice(0)) await close();
});

/** Runs a command against a platform that answers like this. */
async function against(replies: Readonly<Record<string, Reply>>, argv: readonly string[], options: RunOptions = {}) {
  const platform = await startPlatform(replies);
  closers.push(platform.close);
  const env = { TANCHO_TARGET: platform.url, TANCHO_TOKEN: 'tok', ...options.env };
  const ran = await world.run(argv, { ...options, env });
  return { ...ran, asked: platform.asked, lines: platform.lines(), url: platform.url };
}

describe('lists', () => {
  it('are tables for people', async () => {
    const { out, asked } = await against({ 'GET /apps': json([shop]) }, ['app', 'list']);
    expect(out).toBe('NAME  STATE    UNITS      ADDRESS\nshop  started  1 started  http://shop.localhost:8000\n');
    expect(asked[0]?.headers.authorization).toBe('bearer tok');
  });

  it('are what the platform sent for programs', async () => {
    const { out } = await against({ 'GET /apps': json([shop]) }, ['app', 'list', '--json']);
    expect(JSON.parse(out)).toEqual([shop]);
  });

  it('say what to do when they are empty', async () => {
    expect((await against({ 'GET /apps': json([]) }, ['app', 'list'])).out).toMatch(/tancho app create/);
    expect((await against({ 'GET /teams': json([]) }, ['team', 'list'])).out).toMatch(/tancho team create/);
    expect((await against({ 'GET /users/keys': json({}) }, ['key', 'list'])).out).toMatch(/tancho key add/);
  });

  it('cannot steer the terminal', async () => {
    const evil = { ...shop, Name: 'a\u001b]0;x\u0007b\u009b2J\nc' };
    const { out } = await against({ 'GET /apps': json([evil]) }, ['app', 'list']);
    expect(out).toMatch(/^a\]0;xb2J c/m);
  });

  it('of platforms tell what is missing', async () => {
    const list = [
      { Name: 'go', Description: 'Go', Ready: false, Tools: [], Missing: ['go is not installed.'] },
      { Name: 'nodejs', Description: 'Node', Ready: true, Tools: ['node v20'], Missing: [] },
    ];
    const { out } = await against({ 'GET /platforms': json(list) }, ['platform', 'list']);
    expect(out).toMatch(/^go +no +Go go is not installed\.$/m);
    expect(out).toMatch(/^nodejs +yes +Node \(node v20\)$/m);
  });
});

describe('which app', () => {
  const replies = { 'GET /apps/shop': json(shop) };

  it('is -a, or the word after the verb', async () => {
    expect((await against(replies, ['app', 'info', '-a', 'shop'])).lines).toEqual(['GET /apps/shop']);
    expect((await against(replies, ['app', 'info', 'shop'])).out).toMatch(/Address: +http:\/\/shop\.localhost:8000/);
  });

  it.each(['ssh://git@h:2222/shop.git', 'http://a%40b.cc@h:1/git/shop.git', 'git@h:shop.git', 'http://h/git/shop'])(
    'is that of the git remote %s',
    async (remote) => {
      world.git('init', '-q');
      world.git('remote', 'add', 'tancho', remote);
      expect((await against(replies, ['app', 'open-url'])).out).toBe('http://shop.localhost:8000\n');
    },
  );

  it('is asked for when nothing says it', async () => {
    const { code, err, lines } = await against(replies, ['app', 'info']);
    expect(err).toMatch(/no git remote "tancho" here\.\n {2}Hint: Name it with -a <app>/);
    expect({ code, lines }).toEqual({ code: 2, lines: [] });
  });
});

describe('app create', () => {
  const created = { status: 'success', repository_url: 'ssh://git@h:2222/shop.git', ip: 'shop.localhost:8000' };
  const replies = { 'POST /apps': json(created), 'GET /users/keys': json({ k: 'ssh-ed25519 A' }) };

  it('in a git work tree adds the remote and says so', async () => {
    world.git('init', '-q');
    const { code, out, asked } = await against(replies, ['app', 'create', 'shop', 'nodejs', '--team', 'red']);
    expect(code).toBe(0);
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({ name: 'shop', platform: 'nodejs', teamOwner: 'red' });
    expect(world.git('remote', 'get-url', 'tancho')).toBe(created.repository_url);
    expect(out).toMatch(/Added the git remote "tancho" to .*\nTo deploy: git push tancho HEAD:main\n$/);
  });

  it('elsewhere says how to add it', async () => {
    const { out } = await against(replies, ['app', 'create', 'shop', 'nodejs']);
    expect(out).toMatch(/In your code: git remote add tancho ssh:\/\/git@h:2222\/shop\.git/);
  });

  it('never changes a remote that is there', async () => {
    world.git('init', '-q');
    world.git('remote', 'add', 'tancho', 'ssh://git@h:2222/other.git');
    const { out } = await against(replies, ['app', 'create', 'shop', 'nodejs']);
    expect(out).toMatch(/is another app .*git remote set-url tancho ssh:\/\/git@h:2222\/shop\.git/);
    expect(world.git('remote', 'get-url', 'tancho')).toBe('ssh://git@h:2222/other.git');
  });

  it.each([
    ['with --no-remote', ['--no-remote'], ''],
    ["in the platform's own clone", [], 'work'],
  ])('adds none %s', async (_, flags, root) => {
    world.git('init', '-q');
    const packageRoot = root === '' ? world.folder : world.work;
    await against(replies, ['app', 'create', 'shop', 'nodejs', ...flags], { packageRoot });
    expect(world.git('remote')).toBe('');
  });

  it('takes git over HTTP for those who have no key', async () => {
    world.git('init', '-q');
    const { url } = await against({ ...replies, 'GET /users/keys': json({}) }, ['app', 'create', 'shop', 'nodejs']);
    expect(world.git('remote', 'get-url', 'tancho')).toBe(`${url}/git/shop.git`);
  });
});

describe('operations that report', () => {
  it('print what the platform tells', async () => {
    const frames = stream({ Message: 'Starting shop/1\n' }, { Message: 'Draining shop/0\n' });
    const { code, out } = await against({ 'POST /apps/shop/restart': frames }, ['app', 'restart', 'shop']);
    expect({ code, out }).toEqual({ code: 0, out: 'Starting shop/1\nDraining shop/0\nApp shop restarted.\n' });
  });

  it('fail with the message and the hint of the error frame', async () => {
    const frames = stream({ Message: 'a\n' }, { Message: '', Error: 'The unit died.\nLook at the log.' });
    const { code, out, err } = await against({ 'POST /apps/shop/restart': frames }, ['app', 'restart', 'shop']);
    expect({ code, out }).toEqual({ code: 1, out: 'a\n' });
    expect(err).toBe('Error: The unit died.\n  Hint: Look at the log.\n');
  });

  it('keep the report out of the JSON', async () => {
    const { out, err } = await against({ 'DELETE /apps/shop': stream({ Message: 'bye\n' }) }, [
      'app',
      'remove',
      'shop',
      '--yes',
      '--json',
    ]);
    expect(JSON.parse(out)).toEqual({ app: 'shop' });
    expect(err).toBe('bye\n');
  });

  it('that destroy need a yes where nobody can be asked', async () => {
    const { code, err, lines } = await against({}, ['app', 'remove', 'shop']);
    expect(err).toMatch(/Confirm it with --yes/);
    expect({ code, lines }).toEqual({ code: 2, lines: [] });
  });
});

describe('env', () => {
  const vars = json([
    { name: 'A', value: '1', public: true },
    { name: 'B', value: 'hush', public: false },
  ]);

  it('get hides private values until asked', async () => {
    const replies = { 'GET /apps/shop/env': vars };
    expect((await against(replies, ['env', 'get', '-a', 'shop'])).out).toBe('A=1\nB=***  (private)\n');
    expect((await against(replies, ['env', 'get', '-a', 'shop', '--json'])).out).not.toContain('hush');
    const revealed = await against(replies, ['env', 'get', '-a', 'shop', '--reveal', 'A', 'B']);
    expect(revealed.out).toContain('B=hush');
    expect(revealed.lines).toEqual(['GET /apps/shop/env?env=A&env=B']);
  });

  it('set sends all values at once, one of them from standard input', async () => {
    const argv = ['env', 'set', '-a', 'shop', 'A=1=2', 'EMPTY=', 'PEM=-', '--private', '--no-restart'];
    const { out, asked } = await against({ 'POST /apps/shop/env': empty }, argv, { stdin: 'line 1\nline 2\n' });
    expect(asked[0]?.line).toBe('POST /apps/shop/env?private=true&noRestart=true');
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({ A: '1=2', EMPTY: '', PEM: 'line 1\nline 2' });
    expect(out).toBe('Set A, EMPTY, PEM of shop. They take effect with: tancho app restart -a shop\n');
  });

  it('unset', async () => {
    const { asked } = await against({ 'DELETE /apps/shop/env': empty }, ['env', 'unset', '-a', 'shop', 'A', 'B']);
    expect(asked[0]).toMatchObject({ line: 'DELETE /apps/shop/env?noRestart=false', body: '["A","B"]' });
  });
});

describe('app run', () => {
  it('gives the output as it is and ends with the code of the command', async () => {
    const frames = stream({ Message: '\u001b[31mred' }, { Message: '\n' }, { Message: '', Error: 'exit code 42' });
    const argv = ['app', 'run', '-a', 'shop', '--once', '--', 'node', '-e', 'process.exit(42)', "it's"];
    const { code, out, err, asked } = await against({ 'POST /apps/shop/run': frames }, argv);
    expect({ code, out, err }).toEqual({ code: 42, out: '\u001b[31mred\n', err: '' });
    expect(asked[0]).toMatchObject({
      line: 'POST /apps/shop/run?once=true',
      body: "node -e 'process.exit(42)' 'it'\\''s'",
    });
  });

  it('gives one word alone to the shell', async () => {
    const { asked } = await against({ 'POST /apps/shop/run': empty }, ['app', 'run', '-a', 'shop', '--', 'ls | wc -l']);
    expect(asked[0]).toMatchObject({ line: 'POST /apps/shop/run?once=false', body: 'ls | wc -l' });
  });
});

describe('app log', () => {
  const entry = (text: string) => ({ Date: 'then', Message: text, Source: 'web', AppName: 'shop', Unit: 'shop/0' });

  it('prints entries, oldest first, with the filters asked for', async () => {
    const argv = ['app', 'log', 'shop', '-n', '2', '--source', 'web', '--unit', 'shop/0'];
    const { out, lines } = await against({ 'GET /apps/shop/log': json([entry('a'), entry('b\u001b[2J')]) }, argv);
    expect(out).toBe('then [web][shop/0]: a\nthen [web][shop/0]: b[2J\n');
    expect(lines).toEqual(['GET /apps/shop/log?lines=2&source=web&unit=shop%2F0']);
  });

  it('follows until it is interrupted', async () => {
    const stop = new AbortController();
    const reply: Reply = (_, response) => {
      response.write(`${JSON.stringify([entry('a')])}\n`);
      response.write(`${JSON.stringify([entry('b')])}\n`);
    };
    const { code, out } = await against({ 'GET /apps/shop/log': reply }, ['app', 'log', 'shop', '-f', '--json'], {
      signal: stop.signal,
      onOut: (text) => text.includes('"b"') && stop.abort(),
    });
    expect(code).toBe(0);
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { Message: string }).Message),
    ).toEqual(['a', 'b']);
  });
});

describe('deploys', () => {
  const deploy = {
    ID: 'd1',
    App: 'shop',
    Timestamp: 'then',
    Duration: 1_500_000_000,
    Commit: 'abcdef1234567',
    Error: '',
    State: 'done',
  };

  it('list and info', async () => {
    const list = await against({ 'GET /deploys': json([deploy]) }, ['deploy', 'list', '-a', 'shop', '-n', '5']);
    expect(list.lines).toEqual(['GET /deploys?app=shop&limit=5']);
    expect(list.out).toMatch(/^d1 +shop +then +1\.5s +abcdef1234 +done$/m);
    const detail = { ...deploy, Error: 'build failed', Image: 'i', Log: 'line\n', Origin: 'git', CanRollback: false };
    const info = await against({ 'GET /deploys/d1': json(detail) }, ['deploy', 'info', 'd1']);
    expect(info.out).toMatch(/Result: +build failed\n\nline\n$/);
  });
});

describe('teams and keys', () => {
  it('team commands', async () => {
    const replies = {
      'GET /teams/red': json({ name: 'red', users: ['a@b.cc'] }),
      'POST /teams': empty,
      'PUT /teams/red/a%40b.cc': empty,
      'DELETE /teams/red/a%40b.cc': empty,
      'DELETE /teams/red': empty,
    };
    expect((await against(replies, ['team', 'info', 'red'])).out).toMatch(/Members: +a@b\.cc/);
    for (const argv of [
      ['create', 'red'],
      ['member-add', 'red', 'a@b.cc'],
      ['member-remove', 'red', 'a@b.cc'],
      ['remove', 'red'],
    ]) {
      const { code, lines } = await against(replies, ['team', ...argv]);
      expect(code).toBe(0);
      expect(lines).toHaveLength(1);
    }
  });

  it('key add reads a public key and refuses a private one', async () => {
    const replies = { 'POST /users/keys': empty };
    const good = await against(replies, ['key', 'add', '-', '--name', 'k'], { stdin: 'ssh-ed25519 AAAA me@host\n' });
    expect(JSON.parse(good.asked[0]?.body ?? '')).toEqual({ key: 'ssh-ed25519 AAAA me@host', name: 'k' });
    const bad = await against(replies, ['key', 'add', '-'], { stdin: '-----BEGIN OPENSSH PRIVATE KEY-----\n' });
    expect(bad.err).toMatch(/is a private key/);
    expect(bad.lines).toEqual([]);
    expect((await against(replies, ['key', 'add'])).err).toMatch(/Make one with: ssh-keygen -t ed25519/);
    expect((await against(replies, ['key', 'add', 'nosuch'])).err).toMatch(/cannot be read \(ENOENT\)/);
  });

  it('key list shows fingerprints', async () => {
    const { out } = await against({ 'GET /users/keys': json({ laptop: 'ssh-ed25519 AAAA' }) }, ['key', 'list']);
    expect(out).toMatch(/^laptop +ssh-ed25519 +SHA256:[A-Za-z0-9+/]{43}$/m);
  });
});

describe('failures', () => {
  it('are message, hint, exit code 1', async () => {
    const replies = { 'GET /apps/x': problem(404, 'app.not_found', 'App x not found.', 'See "tancho app list".') };
    const { code, out, err } = await against(replies, ['app', 'info', 'x']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe('Error: App x not found.\n  Hint: See "tancho app list".\n');
  });

  it('of the platform itself have their request id', async () => {
    const { err } = await against({ 'GET /apps': problem(500, 'internal', 'Something went wrong.') }, ['app', 'list']);
    expect(err).toMatch(/Request id: req-1/);
  });

  it('of a missing login say how to log in', async () => {
    const replies = { 'GET /apps': problem(401, 'auth.required', 'You must log in.', 'Send a token.') };
    const { err, url } = await against(replies, ['app', 'list']);
    expect(err).toBe(`Error: You must log in.\n  Hint: Log in: tancho login ${url}\n`);
  });
});

describe('completion', () => {
  it.each(['bash', 'zsh', 'fish'])('%s knows every noun and verb', async (shell) => {
    const { code, out } = await world.run(['completion', shell]);
    expect(code).toBe(0);
    for (const word of ['member-add', 'open-url', 'platform', 'no-restart', 'welcome']) {
      expect(out).toContain(word);
    }
  });

  it('bash completes a verb', async () => {
    const { execFileSync } = await import('node:child_process');
    const { out } = await world.run(['completion', 'bash']);
    const complete = (...words: string[]): string[] => {
      const script = `${out}\nCOMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _tancho; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' })
        .trim()
        .split('\n');
    };
    expect(complete('tancho', 'platf')).toEqual(['platform']);
    expect(complete('tancho', 'app', 're')).toEqual(['restart', 'revoke', 'remove']);
    expect(complete('tancho', 'app', 'remove', 'shop', '--y')).toEqual(['--yes']);
  });
});
