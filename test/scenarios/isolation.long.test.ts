/**
 * What an app can reach, at the strongest level this machine has: its own folders and nothing of its neighbours or of the
 * platform. And what it can use up: its own share.
 */
import { readdir, readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allowPush, createIdentity, createWorkTree, type Identity, nodeApp, sshUrl } from '../support/git.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';

const SECRET = 'canary-of-the-neighbour-77aa';
const CODE_SECRET = 'canary-in-the-code-19d4';
const MEMORY = '640M';
/** Above what a unit may start; each is a small program that ends by itself. */
const MANY = 1_300;

let world: World;
let ann: Identity;
let token: string;
let level: string;
let limits: string;
let isApart: boolean;

beforeAll(async () => {
  world = await startWorld({
    env: { TANCHO_UNITS_MEMORY: MEMORY, TANCHO_BUILDS_MEMORY: '256M', TANCHO_UNITS_STOP_GRACE: '1s' },
  });
  const isolation = /^Isolation: +(.*)$/m.exec(world.output())?.[1] ?? '';
  level = isolation.split(':')[0] ?? '';
  limits = /limits by control groups v\d: ([^;]*)/.exec(isolation)?.[1] ?? '';
  isApart = isolation.includes('networks: own');
  console.log(`this machine has ${isolation}`);
  ann = await createIdentity();
  token = await allowPush(world, ann);
  await deploy('victim', { ...nodeApp('still here'), 'secret.txt': CODE_SECRET });
  const body = JSON.stringify({ SECRET });
  const set = await world.api('POST', '/apps/victim/env?private=1', { token, body });
  expect(set.status, set.text).toBe(200);
  await deploy('spy', spyApp());
});

afterAll(async () => {
  await world.dispose();
  await ann.dispose();
});

async function deploy(name: string, files: Record<string, string>): Promise<void> {
  await world.api('POST', '/apps', { token, body: JSON.stringify({ name, platform: 'nodejs' }) });
  const work = await createWorkTree(files, ann);
  const pushed = await work.push(sshUrl(world, name));
  expect(pushed.code, pushed.stderr).toBe(0);
  await work.dispose();
}

/** An app that does to the machine what it is asked to, and answers what came of it. */
function spyApp(): Record<string, string> {
  return {
    ...nodeApp(''),
    'server.js': `const fs = require('node:fs');
const { spawn } = require('node:child_process');
const deeds = {
  read: (path, done) => done(fs.readFileSync(path, 'latin1')),
  list: (path, done) => done(JSON.stringify(fs.readdirSync(path))),
  write: (path, done) => { fs.writeFileSync(path, 'mine'); done('written'); },
  env: (name, done) => done(process.env[name] ?? ''),
  connect: (path, done) =>
    require('node:net').connect(path).on('connect', () => done('connected')).on('error', (error) => done(error.code)),
  reach: (place, done) => {
    const [host, port] = place.split(' ');
    require('node:net').connect({ host, port: Number(port), timeout: 10000 })
      .on('connect', () => done('connected')).on('error', (error) => done(error.code)).on('timeout', () => done('silence'));
  },
  environments: (_, done) => {
    const seen = fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).map((pid) => {
      try { return fs.readFileSync('/proc/' + pid + '/environ', 'latin1'); } catch (error) { return error.code; }
    });
    done(JSON.stringify(seen));
  },
  kill: (pid, done) => { process.kill(Number(pid), 'SIGKILL'); done('killed'); },
  hog: (_, done) => {
    done('eating');
    const eaten = [];
    setInterval(() => eaten.push(Buffer.alloc(16 * 1024 * 1024, 1)), 5);
  },
  fork: (count, done) => {
    const loop = 'i=0; while [ $i -lt ' + count + ' ]; do sleep 20 & i=$((i+1)); done; echo all';
    const child = spawn('/bin/sh', ['-c', loop], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said += data));
    child.on('exit', (code) => done(code + ' ' + said));
  },
};
require('node:http').createServer((req, res) => {
  const { pathname, searchParams } = new URL(req.url, 'http://spy');
  try {
    (deeds[pathname.slice(1)] ?? ((_, done) => done('spy')))(searchParams.get('of'), (text) => res.end(text));
  } catch (error) {
    res.end(error.code ?? error.message);
  }
}).listen(process.env.PORT);
`,
  };
}

async function spy(deed: string, of = ''): Promise<string> {
  return (await world.fetchApp('spy', `/${deed}?of=${encodeURIComponent(of)}`)).text;
}

async function expectVictimServes(): Promise<void> {
  const answer = await world.fetchApp('victim');
  expect([answer.status, answer.text]).toEqual([200, 'still here']);
}

const DENIED = /^(?:EACCES|ENOENT|EPERM|ESRCH|ECONNREFUSED)$/;

describe('an app reaches', () => {
  it('its own folders', async () => {
    const own = [await spy('env', 'HOME'), await spy('env', 'TMPDIR')];
    for (const directory of own) {
      expect(await spy('write', path.join(directory, 'note')), directory).toBe('written');
      expect(await spy('read', path.join(directory, 'note')), directory).toBe('mine');
    }
    expect(await spy('write', 'in-the-code')).toBe('written');
    expect(await spy('read', 'in-the-code')).toBe('mine');
  });

  it('nothing of the system that it could change', async () => {
    if (level === 'plain') return console.log('not checked: this machine has no isolation');
    for (const file of ['/etc/note', '/usr/note', '/bin/note']) expect(await spy('write', file)).toMatch(/^E/);
    expect(await spy('read', '/etc/shadow')).toMatch(DENIED);
  });

  it('nothing of the platform', async (test) => {
    if (level === 'plain') return test.skip('this machine has no isolation');
    for (const file of [
      'secret.key',
      'tancho.db',
      'logs.db',
      'ssh_host_ed25519_key',
      'config.yaml',
      'run/control.pid',
    ]) {
      expect(await spy('read', path.join(world.home, file)), file).toMatch(DENIED);
      expect(await spy('write', path.join(world.home, file)), file).toMatch(DENIED);
    }
    for (const directory of ['log', 'repos', 'edge', 'run', 'sandbox', 'cache', 'slugs', 'units']) {
      const found = await spy('list', path.join(world.home, directory));
      // Where the own folder is below, a view of its own shows that and nothing else.
      expect(found.replace(/^\["(?:spy|[0-9a-f]{12,24})"\]$/, 'ENOENT'), directory).toMatch(DENIED);
    }
    for (const socket of (await readdir(path.join(world.home, 'run'))).filter((name) => name.endsWith('.sock'))) {
      expect(await spy('connect', path.join(world.home, 'run', socket)), socket).toMatch(DENIED);
    }
    expect(await spy('kill', String(world.pid))).toMatch(DENIED);
  });

  it('no port of the platform or of another app, by any address of the machine', async (test) => {
    if (!isApart) return test.skip('apps share the network of this machine');
    const ports = [new URL(world.apiUrl).port, world.edge.split(':').at(-1) ?? '', `${world.ssh.port}`];
    const machine = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    const hosts = [...new Set(['127.0.0.1', '0.0.0.0', 'localhost', ...machine.map(({ address }) => address)])];
    const others = await Promise.all(
      (await readdir(path.join(world.home, 'units'))).map(
        async (unit): Promise<{ app?: string; address?: string; port?: number }> => {
          const record = await readFile(path.join(world.home, 'units', unit, 'unit.json'), 'utf8').catch(() => '{}');
          return JSON.parse(record) as object;
        },
      ),
    );
    const victims = others.filter(({ app }) => app === 'victim').map(({ address, port }) => `${address} ${port}`);
    expect(victims).toHaveLength(1);
    const places = [
      ...victims,
      ...hosts.flatMap((host) => ports.map((port) => `${host} ${port}`)),
      '169.254.169.254 80',
    ];
    const tried = await Promise.all(places.map(async (place) => ({ place, how: await spy('reach', place) })));
    expect(tried.filter(({ how }) => !/^(?:silence|E[A-Z]+)$/.test(how))).toEqual([]);
    // It can say so: its own port.
    expect(await spy('reach', `127.0.0.1 ${await spy('env', 'PORT')}`)).toBe('connected');
  });

  it('neither the code nor the variables nor the output of another app', async (test) => {
    if (level === 'plain') return test.skip('this machine has no isolation');
    const others = await filesWith(world.home, CODE_SECRET);
    expect(others.length).toBeGreaterThan(0);
    for (const file of others) {
      expect(await spy('read', file), file).toMatch(DENIED);
      expect(await spy('list', path.dirname(file)), file).toMatch(DENIED);
      expect(await spy('write', file), file).toMatch(DENIED);
    }
    for (const unit of await readdir(path.join(world.home, 'units'))) {
      if (unit === path.basename(path.dirname(await spy('env', 'HOME')))) continue;
      for (const inner of ['', 'home', 'tmp', 'output', 'unit.json']) {
        expect(await spy('list', path.join(world.home, 'units', unit, inner)), inner).toMatch(
          /^(?:EACCES|ENOENT|ENOTDIR)$/,
        );
      }
    }
    const environments = await spy('environments');
    expect(environments).toContain('TANCHO_UNIT=spy/');
    expect(environments).not.toContain(SECRET);
    expect(environments).not.toContain('TANCHO_ADMIN_PASSWORD');
    await expectVictimServes();
  });

  it('not even with a command of its own', async () => {
    const files = ['secret.key', 'tancho.db'].map((file) => path.join(world.home, file));
    const ran = await world.cli(['app', 'run', '-a', 'spy', '--', 'cat', ...files]);
    if (level === 'plain') return console.log('not checked: this machine has no isolation');
    expect(ran.code).not.toBe(0);
    expect(ran.stdout).not.toMatch(/SQLite|secrets in the database/);
    const all = await world.cli(['app', 'run', '-a', 'spy', '--', 'cat /proc/[0-9]*/environ 2>/dev/null; true']);
    expect(all.stdout).not.toContain(SECRET);
  });
});

describe('an app uses up', () => {
  it(`no more than ${MEMORY} of memory: it is killed, the log says why, and it is started again`, async () => {
    if (!limits.includes('memory')) console.log('no kernel limit of memory here: the platform watches it');
    await spy('hog');
    await until(async () => (await logOf('spy')).some((line) => line.includes('used more memory than it may')), {
      what: 'the memory hog to be killed',
    });
    await expectVictimServes();
    await until(async () => (await world.fetchApp('spy')).text === 'spy', {
      what: 'the app to be back',
    });
  });

  it('no more than its memory while it starts, and the deploy says so', async () => {
    const files = {
      ...nodeApp(''),
      'server.js': 'const eaten = []; setInterval(() => eaten.push(Buffer.alloc(16 << 20, 1)), 1);\n',
    };
    await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'glutton', platform: 'nodejs' }) });
    const work = await createWorkTree(files, ann);
    const pushed = await work.push(sshUrl(world, 'glutton'));
    await work.dispose();
    expect(pushed.code).not.toBe(0);
    expect(pushed.stderr).toContain('Deploy failed (out_of_memory)');
    await expectVictimServes();
  });

  it('no more than its memory while it is built, and the deploy says so', async (test) => {
    if (!limits.includes('memory')) return test.skip('this machine has no kernel limit of memory');
    const eat = 'const eaten = []; setInterval(() => eaten.push(Buffer.alloc(16 << 20, 1)), 1);\n';
    const files = { ...nodeApp(''), 'eat.js': eat, 'tancho.yaml': 'hooks:\n  build:\n    - node eat.js\n' };
    await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'builder', platform: 'nodejs' }) });
    const work = await createWorkTree(files, ann);
    const pushed = await work.push(sshUrl(world, 'builder'));
    await work.dispose();
    expect(pushed.code).not.toBe(0);
    expect(pushed.stderr).toContain('needed more memory than there is (builds here may use 256 MiB)');
    await expectVictimServes();
  });

  it('only so many processes', async (test) => {
    if (!limits.includes('pids')) return test.skip('this machine has no kernel limit of processes per app');
    const before = await spyProcesses();
    const said = await spy('fork', String(MANY));
    expect(said).toMatch(/^[1-9][0-9]* .*(?:fork|Resource temporarily unavailable)/is);
    await expectVictimServes();
    const during = await spyProcesses();
    expect(during).toBeGreaterThan(before);
    expect(during).toBeLessThanOrEqual(1_024);
    const restarted = await world.api('POST', '/apps/spy/restart', { token });
    expect(restarted.status, restarted.text).toBe(200);
    expect((await world.fetchApp('spy')).text).toBe('spy');
    await until(async () => (await spyProcesses()) <= before, { what: 'the processes to be gone' });
  });
});

async function logOf(app: string): Promise<string[]> {
  const entries = (await world.api('GET', `/apps/${app}/log?lines=50`, { token })).json<{ Message: string }[]>();
  return entries.map((entry) => entry.Message);
}

/** Processes of the machine that belong to units of the spy. */
async function spyProcesses(): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name));
  const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')));
  return environments.filter((text) => text.includes('TANCHO_APP=spy\0') && text.includes(world.home)).length;
}

/** Files below a folder that hold a text. */
async function filesWith(folder: string, text: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.filter((each) => each.isFile())) {
    const file = path.join(entry.parentPath, entry.name);
    if ((await readFile(file, 'latin1').catch(() => '')).includes(text)) found.push(file);
  }
  return found;
}
