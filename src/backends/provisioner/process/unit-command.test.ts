import { describe, expect, it } from 'vitest';
import { isSimpleCommand } from '../../../lib/shell-argv.ts';
import { oneOffArgv, unitArgv, unitEnvironment } from './unit-command.ts';

describe('isSimpleCommand', () => {
  it.each(['node app.js', 'gunicorn app:app -b 0.0.0.0:$PORT', './bin/web "a b"', 'python3.11 -m http.server ${PORT}'])(
    'lets the shell step aside for: %s',
    (command) => {
      expect(isSimpleCommand(command)).toBe(true);
      expect(unitArgv(` ${command}`, {})).toEqual(['/bin/sh', '-c', `exec ${command}`]);
    },
  );

  it.each([
    'cd app && node x',
    'A=1 node x',
    'exit 3',
    '. ./env',
    'node x | tee y',
    'node $(which x)',
    'node x; true',
    'node x\nnode y',
    'if true',
    '"my app" x',
    '! true',
    'exec node x',
    '',
  ])('keeps the shell for: %s', (command) => {
    expect(isSimpleCommand(command)).toBe(false);
    expect(unitArgv(command, {})).toEqual(['/bin/sh', '-c', command]);
  });

  it('joins both outputs of a one-off command', () => {
    expect(oneOffArgv('echo hi', {})[2]).toBe('exec 2>&1\necho hi');
  });
});

describe('of an image', () => {
  const image = {
    digest: 'sha256:1',
    directory: '/srv',
    home: '/',
    uid: 33,
    gid: 33,
    ports: [],
    programs: [] as string[],
  };

  it('the command is a list of arguments, and no shell sees it', () => {
    expect(unitArgv(`/app --name 'a b; $(x)' \\$PORT`, { image })).toEqual(['/app', '--name', 'a b; $(x)', '$PORT']);
  });

  it('a one-off command is read by the shell of the image, or is a list where there is none', () => {
    const withShell = { image: { ...image, programs: ['/bin/sh'] } };
    expect(oneOffArgv('a | b', withShell)).toEqual(['/bin/sh', '-c', 'exec 2>&1\na | b']);
    expect(oneOffArgv(`/app 'x y'`, { image })).toEqual(['/app', 'x y']);
    for (const command of ['a | b', 'a; b', 'echo $HOME', "a 'b", ' ', 'a\nb']) {
      expect(() => oneOffArgv(command, { image }), command).toThrow('There is no shell in the image');
    }
  });
});

describe('unitEnvironment', () => {
  const manifest = {
    format: 1,
    platform: 'node',
    path: ['/opt/node/bin'],
    env: { NODE_ENV: 'production', A: '1' },
    binds: [],
  } as const;
  const spec = {
    id: 'u1',
    app: 'shop',
    name: 'shop/0',
    process: 'web',
    artifact: 'a',
    command: 'node x',
    listens: true,
    limits: { memoryBytes: 0, cpuMillis: 0, processes: 0 },
  };

  it('puts the platform below the slug, the slug below the app, and PORT above all', () => {
    const env = { A: '2', PORT: '80', LANG: 'de_DE.UTF-8' };
    const facts = { spec: { ...spec, env }, manifest, home: '/u/home', tmp: '/u/tmp', port: 20_001 };
    expect(unitEnvironment(facts)).toEqual({
      LANG: 'de_DE.UTF-8',
      HOME: '/u/home',
      TMPDIR: '/u/tmp',
      PATH: '/opt/node/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      TANCHO_APP: 'shop',
      TANCHO_UNIT: 'shop/0',
      TANCHO_PROCESS: 'web',
      TSURU_APPNAME: 'shop',
      TSURU_PROCESSNAME: 'web',
      NODE_ENV: 'production',
      A: '2',
      PORT: '20001',
    });
  });

  it('gives no port to a process that does not listen', () => {
    expect(
      unitEnvironment({ spec: { ...spec, env: {} }, manifest, home: '/h', tmp: '/t', port: null }),
    ).not.toHaveProperty('PORT');
  });
});
