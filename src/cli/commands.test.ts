import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ScriptedCli } from '../../test/support/scripted-cli.ts';
import { empty, json, problem, stream } from '../../test/support/scripted-platform.ts';

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

let cli: ScriptedCli;
beforeEach(() => {
  cli = new ScriptedCli();
});
afterEach(() => cli.close());

describe('lists', () => {
  it('are tables for people', async () => {
    const { out, asked } = await cli.against({ 'GET /apps': json([shop]) }, ['app', 'list']);
    expect(out).toBe('NAME  STATE    UNITS      ADDRESS\nshop  started  1 started  http://shop.localhost:8000\n');
    expect(asked[0]?.headers.authorization).toBe('bearer tok');
  });

  it('are what the platform sent for programs', async () => {
    const { out } = await cli.against({ 'GET /apps': json([shop]) }, ['app', 'list', '--json']);
    expect(JSON.parse(out)).toEqual([shop]);
  });

  it('say what to do when they are empty', async () => {
    expect((await cli.against({ 'GET /apps': json([]) }, ['app', 'list'])).out).toMatch(/tancho app create/);
    expect((await cli.against({ 'GET /teams': json([]) }, ['team', 'list'])).out).toMatch(/tancho team create/);
    expect((await cli.against({ 'GET /users/keys': json({}) }, ['key', 'list'])).out).toMatch(/tancho key add/);
  });

  it('cannot steer the terminal', async () => {
    const evil = { ...shop, Name: 'a\u001b]0;x\u0007b\u009b2J\nc' };
    const { out } = await cli.against({ 'GET /apps': json([evil]) }, ['app', 'list']);
    expect(out).toMatch(/^a\]0;xb2J c/m);
  });

  it('of platforms say what is missing', async () => {
    const list = [
      { Name: 'go', Description: 'Go', Ready: false, Tools: [], Missing: ['go is not installed.'] },
      { Name: 'nodejs', Description: 'Node', Ready: true, Tools: ['node v20'], Missing: [] },
    ];
    const { out } = await cli.against({ 'GET /platforms': json(list) }, ['platform', 'list']);
    expect(out).toMatch(/^go +no +Go: go is not installed\.$/m);
    expect(out).toMatch(/^nodejs +yes +Node \(node v20\)$/m);
  });
});

describe('which app', () => {
  const replies = { 'GET /apps/shop': json(shop) };

  it('is -a, or the word after the verb', async () => {
    expect((await cli.against(replies, ['app', 'info', '-a', 'shop'])).lines).toEqual(['GET /apps/shop']);
    expect((await cli.against(replies, ['app', 'info', 'shop'])).out).toMatch(
      /Address: +http:\/\/shop\.localhost:8000/,
    );
  });

  it.each(['ssh://git@h:2222/shop.git', 'http://a%40b.cc@h:1/git/shop.git', 'git@h:shop.git', 'http://h/git/shop'])(
    'is that of the git remote %s',
    async (remote) => {
      cli.world.git('init', '-q');
      cli.world.git('remote', 'add', 'tancho', remote);
      expect((await cli.against(replies, ['app', 'open-url'])).out).toBe('http://shop.localhost:8000\n');
    },
  );

  it('is asked for when nothing says it', async () => {
    const { code, err, lines } = await cli.against(replies, ['app', 'info']);
    expect(err).toMatch(/no git remote "tancho" here\.\n {2}Hint: Name it with -a <app>/);
    expect({ code, lines }).toEqual({ code: 2, lines: [] });
  });
});

describe('operations that report', () => {
  it('print what the platform reports', async () => {
    const frames = stream({ Message: 'Starting shop/1\n' }, { Message: 'Draining shop/0\n' });
    const replies = { 'GET /apps/shop': json({ deploys: 1 }), 'POST /apps/shop/restart': frames };
    const { code, out } = await cli.against(replies, ['app', 'restart', 'shop']);
    expect({ code, out }).toEqual({ code: 0, out: 'Starting shop/1\nDraining shop/0\nApp shop restarted.\n' });
  });

  it('fail with the message and the hint of the error frame', async () => {
    const frames = stream({ Message: 'a\n' }, { Message: '', Error: 'The unit died.\nLook at the log.' });
    const replies = { 'GET /apps/shop': json({ deploys: 1 }), 'POST /apps/shop/restart': frames };
    const { code, out, err } = await cli.against(replies, ['app', 'restart', 'shop']);
    expect({ code, out }).toEqual({ code: 1, out: 'a\n' });
    expect(err).toBe('Error: The unit died.\n  Hint: Look at the log.\n');
  });

  it('restart nothing that was never deployed, and say what to do first', async () => {
    const replies = { 'GET /apps/shop': json({ deploys: 0, Repository: 'ssh://git@example.com/shop.git' }) };
    const { code, err, lines } = await cli.against(replies, ['app', 'restart', 'shop']);
    expect(err).toMatch(/nothing to restart\.\n {2}Hint: Push code to it first: git push ssh:\S+shop\.git HEAD:main/);
    expect({ code, lines }).toEqual({ code: 1, lines: ['GET /apps/shop'] });
  });

  it('keep the report out of the JSON', async () => {
    const { out, err } = await cli.against({ 'DELETE /apps/shop': stream({ Message: 'bye\n' }) }, [
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
    const { code, err, lines } = await cli.against({}, ['app', 'remove', 'shop']);
    expect(err).toMatch(/Confirm it with --yes/);
    expect({ code, lines }).toEqual({ code: 2, lines: [] });
  });
});

describe('env', () => {
  const vars = json([
    { name: 'A', value: '1', public: true },
    { name: 'B', value: 'hush', public: false },
    { name: 'C', value: 'hush', public: false, managedBy: 'shop-db' },
  ]);

  it('get hides private values until asked', async () => {
    const replies = { 'GET /apps/shop/env': vars };
    expect((await cli.against(replies, ['env', 'get', '-a', 'shop'])).out).toBe(
      'A=1\nB=***  (private)\nC=***  (private, set by shop-db)\n',
    );
    expect((await cli.against(replies, ['env', 'get', '-a', 'shop', '--json'])).out).not.toContain('hush');
    const revealed = await cli.against(replies, ['env', 'get', '-a', 'shop', '--reveal', 'A', 'B']);
    expect(revealed.out).toContain('B=hush');
    expect(revealed.out).not.toContain('(private)');
    expect(revealed.lines).toEqual(['GET /apps/shop/env?env=A&env=B']);
  });

  it('get says which of the named ones there are not', async () => {
    const replies = { 'GET /apps/shop/env': json([]) };
    const { code, out, err } = await cli.against(replies, ['env', 'get', '-a', 'shop', 'A', 'B']);
    expect({ code, out, err }).toEqual({ code: 1, out: '', err: 'Not set: A, B\n' });
  });

  it('get prints what set takes from a file', async () => {
    const pem = json([{ name: 'PEM', value: 'a\nb', public: true }]);
    const { out } = await cli.against({ 'GET /apps/shop/env': pem }, ['env', 'get', '-a', 'shop']);
    expect(out).toBe('PEM="a\\nb"\n');
    const argv = ['env', 'set', '-a', 'shop', '--file', '-', 'B=2'];
    const replies = { 'GET /apps/shop/env': pem, 'POST /apps/shop/env': empty };
    const { asked } = await cli.against(replies, argv, { stdin: `# c\n${out}` });
    expect(JSON.parse(asked[1]?.body ?? '')).toEqual({ PEM: 'a\nb', B: '2' });
  });

  it('set makes nothing public that is private, unless it is told to', async () => {
    const replies = { 'GET /apps/shop/env': vars, 'POST /apps/shop/env': empty };
    const refused = await cli.against(replies, ['env', 'set', '-a', 'shop', 'A=2', 'B=hush']);
    expect(refused).toMatchObject({ code: 1, lines: ['GET /apps/shop/env'] });
    expect(refused.err).toMatch(/^Error: B is private in shop, .*\n {2}Hint: .*--private; .*--public\.\n$/);
    const told = await cli.against(replies, ['env', 'set', '-a', 'shop', '--public', 'A=2', 'B=hush']);
    expect(told).toMatchObject({ code: 0, lines: ['POST /apps/shop/env?private=false&noRestart=false'] });
    // The platform says what a binding has set, and why that stays.
    const bound = await cli.against(replies, ['env', 'set', '-a', 'shop', 'A=2', 'C=3']);
    expect(bound).toMatchObject({ code: 0 });
    const both = await cli.against(replies, ['env', 'set', '-a', 'shop', '--public', '-p', 'A=2']);
    expect(both).toMatchObject({ code: 2, lines: [] });
  });

  it('set names a file that is not there', async () => {
    const { code, err } = await cli.against({}, ['env', 'set', '-a', 'shop', '-f', 'no.env']);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('The file no.env cannot be read') });
  });

  it('set sends all values at once, one of them from standard input', async () => {
    const argv = ['env', 'set', '-a', 'shop', 'A=1=2', 'EMPTY=', 'PEM=-', '--private', '--no-restart'];
    const { out, asked } = await cli.against({ 'POST /apps/shop/env': empty }, argv, { stdin: 'line 1\nline 2\n' });
    expect(asked[0]?.line).toBe('POST /apps/shop/env?private=true&noRestart=true');
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({ A: '1=2', EMPTY: '', PEM: 'line 1\nline 2' });
    expect(out).toBe('Set A, EMPTY, PEM of shop. They take effect with: tancho app restart -a shop\n');
  });

  it('unset', async () => {
    const { asked } = await cli.against({ 'DELETE /apps/shop/env': empty }, ['env', 'unset', '-a', 'shop', 'A', 'B']);
    expect(asked[0]).toMatchObject({ line: 'DELETE /apps/shop/env?noRestart=false', body: '["A","B"]' });
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
    const list = await cli.against({ 'GET /deploys': json([deploy]) }, ['deploy', 'list', '-a', 'shop', '-n', '5']);
    expect(list.lines).toEqual(['GET /deploys?app=shop&limit=5']);
    expect(list.out).toMatch(/^d1 +shop +then +1\.5s +abcdef1234 +done$/m);
    const detail = { ...deploy, Error: 'build failed', Image: 'i', Log: 'line\n', Origin: 'git', CanRollback: false };
    const info = await cli.against({ 'GET /deploys/d1': json(detail) }, ['deploy', 'info', 'd1']);
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
    expect((await cli.against(replies, ['team', 'info', 'red'])).out).toMatch(/Members: +a@b\.cc/);
    for (const argv of [
      ['create', 'red'],
      ['member-add', 'red', 'a@b.cc'],
      ['member-remove', 'red', 'a@b.cc'],
      ['remove', 'red'],
    ]) {
      const { code, lines } = await cli.against(replies, ['team', ...argv]);
      expect(code).toBe(0);
      expect(lines).toHaveLength(1);
    }
  });

  it('key add reads a public key and refuses a private one', async () => {
    const replies = { 'POST /users/keys': empty };
    const good = await cli.against(replies, ['key', 'add', '-', '--name', 'k'], {
      stdin: 'ssh-ed25519 AAAA me@host\n',
    });
    expect(JSON.parse(good.asked[0]?.body ?? '')).toEqual({ key: 'ssh-ed25519 AAAA me@host', name: 'k' });
    const bad = await cli.against(replies, ['key', 'add', '-'], { stdin: '-----BEGIN OPENSSH PRIVATE KEY-----\n' });
    expect(bad.err).toMatch(/is a private key/);
    expect(bad.lines).toEqual([]);
    expect((await cli.against(replies, ['key', 'add'])).err).toMatch(/Make one with: ssh-keygen -t ed25519/);
    expect((await cli.against(replies, ['key', 'add', 'nosuch'])).err).toMatch(/cannot be read \(ENOENT\)/);
  });

  it('key list shows fingerprints', async () => {
    const { out } = await cli.against({ 'GET /users/keys': json({ laptop: 'ssh-ed25519 AAAA' }) }, ['key', 'list']);
    expect(out).toMatch(/^laptop +ssh-ed25519 +SHA256:[A-Za-z0-9+/]{43}$/m);
  });
});

describe('failures', () => {
  it('are message, hint, exit code 1', async () => {
    const replies = { 'GET /apps/x': problem(404, 'app.not_found', 'App x not found.', 'See "tancho app list".') };
    const { code, out, err } = await cli.against(replies, ['app', 'info', 'x']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe('Error: App x not found.\n  Hint: See "tancho app list".\n');
  });

  it('of the platform itself have their request id', async () => {
    const { err } = await cli.against({ 'GET /apps': problem(500, 'internal', 'Something went wrong.') }, [
      'app',
      'list',
    ]);
    expect(err).toMatch(/Request id: req-1/);
  });

  it('of the user have none, whatever their status', async () => {
    const taken = problem(500, 'service.name_taken', 'Service with name db already exists.');
    const { err } = await cli.against({ 'POST /services': taken }, ['service', 'create', '-'], { stdin: 'id: db\n' });
    expect(err).toContain('already exists');
    expect(err).not.toContain('Request id');
  });

  it('of a missing login say how to log in', async () => {
    const replies = { 'GET /apps': problem(401, 'auth.required', 'You must log in.', 'Send a token.') };
    const { err, url } = await cli.against(replies, ['app', 'list'], { env: { TANCHO_TOKEN: '' } });
    const text = `You are not logged in to ${url}, or the login has ended.\n  Hint: Log in: tancho login ${url}`;
    expect(err).toBe(`Error: ${text}\n`);
  });

  it('of a token that is not taken name where it comes from', async () => {
    const replies = { 'GET /apps': problem(401, 'auth.required', 'You must log in.', 'Send a token.') };
    const { err, url } = await cli.against(replies, ['app', 'list'], { env: { TANCHO_TOKEN: 'old' } });
    expect(err).toBe(
      `Error: ${url} does not accept the token in TANCHO_TOKEN.\n  Hint: Give it another one, or unset it.\n`,
    );
  });
});

describe('completion', () => {
  it.each(['bash', 'zsh', 'fish'])('%s knows every noun and verb', async (shell) => {
    const { code, out } = await cli.world.run(['completion', shell]);
    expect(code).toBe(0);
    for (const word of ['member-add', 'open-url', 'platform', 'no-restart', 'welcome']) {
      expect(out).toContain(word);
    }
  });

  it('bash completes a verb', async () => {
    const { execFileSync } = await import('node:child_process');
    const { out } = await cli.world.run(['completion', 'bash']);
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
