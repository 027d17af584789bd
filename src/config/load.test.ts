import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from './config-error.ts';
import { configTemplate } from './file.ts';
import { homeOf } from './home.ts';
import { loadConfig } from './load.ts';
import { SETTINGS } from './schema.ts';

const NOBODY = 65_534;
let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'tancho-config-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const load = (env: NodeJS.ProcessEnv = {}) => loadConfig({ TANCHO_HOME: home, ...env });
const write = (text: string) => writeFile(join(home, 'config.yaml'), text);

async function failure(work: Promise<unknown>): Promise<ConfigError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('expected a ConfigError');
}

describe('defaults', () => {
  it('come from the schema, and the first start writes the file with every key commented out', async () => {
    const config = await load();
    expect(config).toMatchObject({
      home,
      apiListen: { host: '127.0.0.1', port: 8080 },
      edgeListen: { host: '127.0.0.1', port: 8000 },
      sshListen: { host: '127.0.0.1', port: 2222 },
      domain: 'localhost',
      databaseUrl: null,
      admin: { email: 'admin@tancho.local', password: null },
      registration: 'auto',
      isolation: 'auto',
    });
    const text = await readFile(join(home, 'config.yaml'), 'utf8');
    for (const setting of Object.values(SETTINGS)) {
      expect(text).toContain(`\n# ${setting.key}: `);
      expect(text).toContain(setting.variable);
    }
    expect((await stat(join(home, 'config.yaml'))).mode & 0o777).toBe(0o600);
  });

  it('are what the written file says when every key in it is uncommented', async () => {
    const before = await load();
    await write(configTemplate().replace(/^# ([a-z.-]+: )/gm, '$1'));
    expect(await load()).toEqual(before);
  });

  it('have distinct keys and variables', () => {
    const all = Object.values(SETTINGS);
    expect(new Set(all.map((setting) => setting.key)).size).toBe(all.length);
    expect(new Set(all.map((setting) => setting.variable)).size).toBe(all.length);
  });
});

describe('sources', () => {
  it('the file beats the default, the environment the file, overrides everything', async () => {
    await write('api.listen: 127.0.0.1:1\nedge:\n  listen: "[::1]:2"\n  workers: 3\nunits.memory: 64M\n');
    const config = await loadConfig(
      { TANCHO_HOME: home, TANCHO_API_LISTEN: ':0', TANCHO_SSH_LISTEN: '[::1]:0', TANCHO_DOMAIN: '' },
      { sessionDays: 7 },
    );
    expect(config.apiListen).toEqual({ host: '0.0.0.0', port: 0 });
    expect(config.edgeListen).toEqual({ host: '::1', port: 2 });
    expect(config.sshListen).toEqual({ host: '::1', port: 0 });
    expect(config.edgeWorkers).toBe(3);
    expect(config.unitMemoryBytes).toBe(64 * 1024 ** 2);
    expect(config.domain).toBe('localhost');
    expect(config.sessionDays).toBe(7);
  });

  it('an existing file is left as it is', async () => {
    await write('# mine\n');
    await load();
    expect(await readFile(join(home, 'config.yaml'), 'utf8')).toBe('# mine\n');
  });

  it('two first starts at once both succeed', async () => {
    const nested = join(home, 'new');
    const [left, right] = await Promise.all([loadConfig({ TANCHO_HOME: nested }), loadConfig({ TANCHO_HOME: nested })]);
    expect(left).toEqual(right);
  });
});

describe('the home', () => {
  it('is ~/.tancho, expands ~ and is made absolute', () => {
    expect(homeOf({ HOME: '/h' })).toBe('/h/.tancho');
    expect(homeOf({ HOME: '/h', TANCHO_HOME: '~/x' })).toBe('/h/x');
    expect(homeOf({ HOME: '/h', TANCHO_HOME: 'x/../y' }, '/w')).toBe('/w/y');
  });

  it('that is too long for a socket is refused', async () => {
    const error = await failure(loadConfig({ TANCHO_HOME: join(home, 'x'.repeat(100)) }));
    expect(error.message).toMatch(/bytes too long/);
    // None of the sockets has a longer name than this one.
    const spare = (process.platform === 'linux' ? 107 : 103) - join(home, 'run/edge/edge.sock').length;
    const longest = await failure(loadConfig({ TANCHO_HOME: join(home, 'x'.repeat(spare)) }));
    expect(longest.message).toMatch(/is 1 bytes too long/);
  });

  it('that is a file is refused with one line', async () => {
    const file = join(home, 'file');
    await writeFile(file, '');
    const error = await failure(loadConfig({ TANCHO_HOME: file }));
    expect(error.message).toBe(`TANCHO_HOME: ${file} is not a directory.`);
  });

  it('that cannot be written is refused', async () => {
    await mkdir(join(home, 'locked'));
    await chmod(join(home, 'locked'), 0o500);
    await chmod(home, 0o755);
    // Root may write everywhere.
    const isRoot = process.getuid?.() === 0;
    if (isRoot) process.seteuid?.(NOBODY);
    try {
      const error = await failure(loadConfig({ TANCHO_HOME: join(home, 'locked', 'x') }));
      expect(error.message).toContain('EACCES');
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });
});

describe('refused, with file, line and key', () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['an unknown key', 'domain: x\napi.lisen: ":0"\n', /config\.yaml:2: unknown key "api\.lisen"/],
    ['an unknown nested key', 'edge:\n  wrokers: 2\n', /config\.yaml:2: unknown key "edge\.wrokers"/],
    ['a wrong type', 'edge.workers: true\n', /config\.yaml:1: edge\.workers must be a text or a number/],
    ['a list', 'domain: [a]\n', /config\.yaml:1: domain must be one value/],
    ['a bad value', '\nedge.workers: many\n', /config\.yaml:2: edge\.workers must be a whole number.*not "many"/],
    ['no value', 'domain:\n', /config\.yaml:1: domain has no value/],
    ['a group as a setting', 'api: 3\n', /config\.yaml:1: api is a group of settings/],
    ['a key set in both forms', 'edge.workers: 1\nedge:\n  workers: 2\n', /config\.yaml:3: edge\.workers is set twice/],
    ['a key set twice', 'domain: a\ndomain: b\n', /config\.yaml:2: not valid YAML/],
    ['no mapping', 'hello\n', /config\.yaml:1: the file must hold/],
    ['no YAML', 'api.listen: [::1]:0\n', /config\.yaml:1: not valid YAML/],
    ['two doors on one port', 'api.listen: 127.0.0.1:5\nssh.listen: 127.0.0.1:5\n', /api\.listen and ssh\.listen are/],
    ['a hexadecimal number', 'edge.workers: 0x2\n', /edge\.workers must be a whole number/],
  ];
  it.each(cases)('%s', async (_, text, expected) => {
    await write(text);
    const error = await failure(load());
    expect(error.message).toMatch(expected);
    expect(error.message).not.toContain('\n');
    expect(error.hint).not.toBe('');
  });

  it('no engine at all', async () => {
    const error = await failure(load({ TANCHO_PROCESS_ENGINE: 'off' }));
    expect(error.message).toBe('process-engine is off, and no engine is named where apps could run instead.');
    const { processEngine } = await load({
      TANCHO_PROCESS_ENGINE: 'off',
      TANCHO_ENGINES: 'prod=kubernetes:in-cluster',
    });
    expect(processEngine).toBe(false);
  });

  it('no edge, where units run here', async () => {
    const error = await failure(load({ TANCHO_EDGE: 'off' }));
    expect(error.message).toBe('edge is off, and units of this machine are reached by its own edge only.');
    expect(error.hint).toContain('TANCHO_PROCESS_ENGINE=off');
    await write('edge: off\nedge.listen: ":80"\nprocess-engine: off\nengines: prod=kubernetes:in-cluster\n');
    expect(await load()).toMatchObject({ ownEdge: false, edgeListen: { port: 80 } });
  });

  it('a near miss is pointed out', async () => {
    await write('api.lisen: ":0"\n');
    expect((await failure(load())).hint).toBe('Did you mean "api.listen"?');
  });

  it('a variable, by its name', async () => {
    const error = await failure(load({ TANCHO_API_LISTEN: 'nowhere' }));
    expect(error.message).toBe(
      'TANCHO_API_LISTEN must be host:port, for example 127.0.0.1:8080, [::1]:8080 or :8080, not "nowhere".',
    );
  });

  it('a secret, without showing it', async () => {
    const password = await failure(load({ TANCHO_ADMIN_PASSWORD: 'hush!' }));
    const url = await failure(load({ TANCHO_DATABASE_URL: 'mysql://u:hush!@x/y' }));
    expect(`${password.message}${password.hint}${url.message}${url.hint}`).not.toContain('hush!');
  });
});
