import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ScriptedCli } from '../../../test/support/scripted-cli.ts';
import { empty, json, type Reply, stream } from '../../../test/support/scripted-platform.ts';

let cli: ScriptedCli;
beforeEach(() => {
  cli = new ScriptedCli();
});
afterEach(() => cli.close());

describe('app create', () => {
  const created = { status: 'success', repository_url: 'ssh://git@h:2222/shop.git', ip: 'shop.localhost:8000' };
  const replies = { 'POST /apps': json(created), 'GET /users/keys': json({ k: 'ssh-ed25519 A' }) };

  it('in a git work tree adds the remote and says so', async () => {
    cli.world.git('init', '-q');
    const { code, out, asked } = await cli.against(replies, ['app', 'create', 'shop', 'nodejs', '--team', 'red']);
    expect(code).toBe(0);
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({ name: 'shop', platform: 'nodejs', teamOwner: 'red' });
    expect(cli.world.git('remote', 'get-url', 'tancho')).toBe(created.repository_url);
    expect(out).toMatch(/Added the git remote "tancho" to .*\nTo deploy: git push tancho HEAD:main\n$/);
  });

  it('says the address, by HTTPS where the API says so', async () => {
    expect((await cli.against(replies, ['app', 'create', 'shop'])).out).toContain('http://shop.localhost:8000\n');
    const secure = { ...created, ip: 'shop.example.com', url: 'https://shop.example.com' };
    const { out } = await cli.against({ ...replies, 'POST /apps': json(secure) }, ['app', 'create', 'shop']);
    expect(out).toContain('https://shop.example.com\n');
    expect(out).not.toContain('http://');
  });

  it('elsewhere says how to add it', async () => {
    const { out } = await cli.against(replies, ['app', 'create', 'shop', 'nodejs']);
    expect(out).toMatch(/In your code: git remote add tancho ssh:\/\/git@h:2222\/shop\.git/);
  });

  it('says what the server lacks to build it, with the command that installs it', async () => {
    const rust = {
      Name: 'rust',
      Ready: false,
      Missing: ['cargo is not installed. Install it with: apt install cargo'],
    };
    const platforms = json([{ Name: 'nodejs', Ready: true, Missing: [] }, rust]);
    const known = { ...replies, 'GET /platforms': platforms };
    const said = 'The server cannot build it yet: cargo is not installed. Install it with: apt install cargo\n';
    expect((await cli.against(known, ['app', 'create', 'shop', 'rust'])).out).toContain(said);
    for (const platform of [['nodejs'], []])
      expect((await cli.against(known, ['app', 'create', 'shop', ...platform])).out).not.toContain('cannot build');
  });

  it('never changes a remote that is there', async () => {
    cli.world.git('init', '-q');
    cli.world.git('remote', 'add', 'tancho', 'ssh://git@h:2222/other.git');
    const { out } = await cli.against(replies, ['app', 'create', 'shop', 'nodejs']);
    expect(out).toMatch(/is another app .*git remote set-url tancho ssh:\/\/git@h:2222\/shop\.git/);
    expect(out).toMatch(/To deploy: git push ssh:\/\/git@h:2222\/shop\.git HEAD:main\n$/);
    expect(cli.world.git('remote', 'get-url', 'tancho')).toBe('ssh://git@h:2222/other.git');
  });

  it.each([
    ['with --no-remote', ['--no-remote'], ''],
    ["in the platform's own clone", [], 'work'],
  ])('adds none %s', async (_, flags, root) => {
    cli.world.git('init', '-q');
    const packageRoot = root === '' ? cli.world.folder : cli.world.work;
    await cli.against(replies, ['app', 'create', 'shop', 'nodejs', ...flags], { packageRoot });
    expect(cli.world.git('remote')).toBe('');
  });

  it('takes git over HTTP for those who have no key', async () => {
    cli.world.git('init', '-q');
    const { url } = await cli.against({ ...replies, 'GET /users/keys': json({}) }, ['app', 'create', 'shop', 'nodejs']);
    expect(cli.world.git('remote', 'get-url', 'tancho')).toBe(`${url}/git/shop.git`);
  });
});

describe('app run', () => {
  it('gives the output as it is and ends with the code of the command', async () => {
    const frames = stream({ Message: '\u001b[31mred' }, { Message: '\n' }, { Message: '', Error: 'exit code 42' });
    const argv = ['app', 'run', '-a', 'shop', '--once', '--', 'node', '-e', 'process.exit(42)', "it's"];
    const { code, out, err, asked } = await cli.against({ 'POST /apps/shop/run': frames }, argv);
    expect({ code, out, err }).toEqual({ code: 42, out: '\u001b[31mred\n', err: '' });
    expect(asked[0]).toMatchObject({
      line: 'POST /apps/shop/run?once=true',
      body: "node -e 'process.exit(42)' 'it'\\''s'",
    });
  });

  it('gives one word alone to the shell, once and not for each unit, unless it is asked to', async () => {
    const asked = async (...options: string[]) => {
      const argv = ['app', 'run', '-a', 'shop', ...options, '--', 'ls | wc -l'];
      return (await cli.against({ 'POST /apps/shop/run': empty }, argv)).asked[0];
    };
    expect(await asked()).toMatchObject({ line: 'POST /apps/shop/run?once=true', body: 'ls | wc -l' });
    expect(await asked('--each')).toMatchObject({ line: 'POST /apps/shop/run?once=false' });
  });
});

describe('app log', () => {
  const entry = (text: string) => ({ Date: 'then', Message: text, Source: 'web', AppName: 'shop', Unit: 'shop/0' });

  it('prints entries, oldest first, with the filters asked for', async () => {
    const argv = ['app', 'log', 'shop', '-n', '2', '--source', 'web', '--unit', 'shop/0'];
    const { out, lines } = await cli.against({ 'GET /apps/shop/log': json([entry('a'), entry('b\u001b[2J')]) }, argv);
    expect(out).toBe('then [web][shop/0]: a\nthen [web][shop/0]: b\n');
    expect(lines).toEqual(['GET /apps/shop/log?lines=2&source=web&unit=shop%2F0']);
  });

  it('prints all there are, page by page', async () => {
    const pages = new Map([
      [
        'c0',
        [
          { ...entry('a'), Cursor: 'c1' },
          { ...entry('b'), Cursor: 'c4' },
        ],
      ],
      ['c4', [{ ...entry('c'), Cursor: 'c5' }]],
    ]);
    const reply: Reply = ({ line }, response) => {
      const after = new URL(line.split(' ')[1] ?? '', 'http://server').searchParams.get('after') ?? '';
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(pages.get(after) ?? []));
    };
    const { out } = await cli.against({ 'GET /apps/shop/log': reply }, ['app', 'log', 'shop', '-n', '0']);
    expect(out).toBe(['a', 'b', 'c'].map((text) => `then [web][shop/0]: ${text}\n`).join(''));
  });

  it('follows until it is interrupted', async () => {
    const stop = new AbortController();
    const reply: Reply = (_, response) => {
      response.write(`${JSON.stringify([entry('a')])}\n`);
      response.write(`${JSON.stringify([entry('b')])}\n`);
    };
    const { code, out } = await cli.against({ 'GET /apps/shop/log': reply }, ['app', 'log', 'shop', '-f', '--json'], {
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
