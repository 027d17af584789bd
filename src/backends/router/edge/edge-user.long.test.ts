import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NOT_ROOT, skipFor } from '../../../../test/support/skips.ts';
import { findProgram } from '../../../lib/find-program.ts';
import { until } from '../../../../test/support/until.ts';
import type { EdgeRouterOptions } from './edge-options.ts';
import type { AdoptingRouter } from './edge-router.ts';
import { edgeUser } from './edge-user.ts';
import { EdgeWorld } from './edge-world.ts';

const USER = 91_234;

let world: EdgeWorld;
beforeEach(() => {
  world = new EdgeWorld();
});
afterEach(() => world.dispose());

async function userOf(options: EdgeRouterOptions): Promise<number> {
  return Number(await factOf(options, 'Uid'));
}

/** The first word of what the kernel says of the edge. */
async function factOf(options: EdgeRouterOptions, name: string): Promise<string> {
  const status = await readFile(`/proc/${await world.pid(options)}/status`, 'utf8');
  return new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1] ?? '';
}

function get(listen: string): Promise<string> {
  const [host = '', port = ''] = listen.split(':');
  return new Promise((resolve, reject) => {
    const headers = { host: 'blog.test', connection: 'close' };
    http
      .get({ host, port, headers, agent: false }, (response) => {
        let text = '';
        response.on('data', (data: Buffer) => (text += data.toString()));
        response.on('end', () => resolve(`${response.statusCode} ${text}`));
      })
      .on('error', reject);
  });
}

/** Of system calls, as of a container that the tests run in. */
async function ownFilters(): Promise<number> {
  return Number(/^Seccomp_filters:\s+(\d+)/m.exec(await readFile('/proc/self/status', 'utf8'))?.[1] ?? 0);
}

/** Sends requests all the time until stop() is called, which answers what was not as it should be. */
function asking(listen: string): { readonly count: () => number; stop(): Promise<string[]> } {
  const wrong: string[] = [];
  let [count, isOver] = [0, false];
  const done = (async () => {
    while (!isOver) {
      const answer = await get(listen).catch((error: Error) => error.message);
      count += 1;
      if (answer !== '200 one') wrong.push(answer);
    }
  })();
  return {
    count: () => count,
    async stop() {
      isOver = true;
      await done;
      return wrong;
    },
  };
}

describe('an edge with a user of its own', skipFor(NOT_ROOT), () => {
  let options: EdgeRouterOptions;
  let router: AdoptingRouter;
  beforeEach(async () => {
    const home = await world.home();
    await chmod(dirname(home.stateDir), 0o711);
    options = { ...home, listen: { host: '127.0.0.1', port: 0 } };
  });

  /** Takes over from the edge before, at its address. */
  async function next(changes: Partial<EdgeRouterOptions>): Promise<void> {
    const port = Number(router.listen.split(':')[1]);
    await router.close();
    options = { ...options, listen: { host: '127.0.0.1', port }, ...changes };
    router = await world.start(options);
  }

  it('takes over from one that is root, and from one like itself, without a failed request', async () => {
    router = await world.start(options);
    await router.apply(await world.unit('one'));
    expect(await userOf(options)).toBe(0);
    const clients = asking(router.listen);
    const filters: string[] = [];
    for (const changes of [{ user: USER }, { hstsSeconds: 60 }, { hstsSeconds: 61 }]) {
      await next(changes);
      expect(await userOf(options)).toBe(USER);
      filters.push(await factOf(options, 'Seccomp_filters'));
      const before = clients.count();
      await until(() => clients.count() > before + 20, { what: 'answers of this one' });
    }
    // One, however many have taken over: the kernel takes so many only.
    if (findProgram('perl') !== null) expect([...new Set(filters)]).toEqual([`${(await ownFilters()) + 1}`]);
    expect(await clients.stop()).toEqual([]);
    // Nobody but root becomes somebody else: these begin anew, by the same table.
    for (const user of [USER + 1, null, USER]) {
      await next({ user });
      expect(await userOf(options)).toBe(user ?? 0);
      expect(await get(router.listen)).toBe('200 one');
    }
  });

  it('sees of a directory that others cannot enter just what it goes by, and so does its successor', async () => {
    const closed = dirname(options.stateDir);
    await chmod(closed, 0o700);
    await writeFile(join(closed, 'secret.key'), 'of the server');
    const { uid, why } = await edgeUser({ home: closed, execPath: process.execPath, isolation: 'auto' });
    if (uid === null) return expect(why).toContain(closed);
    options = { ...options, user: uid };
    router = await world.start(options);
    await router.apply(await world.unit('one'));
    const seen = async (): Promise<string[]> =>
      (await readdir(`/proc/${await world.pid(options)}/root${closed}`)).sort();
    expect(await userOf(options)).toBe(uid);
    expect(await seen()).toEqual([basename(options.runDir), basename(options.stateDir)]);
    const clients = asking(router.listen);
    await next({ hstsSeconds: 60 });
    expect(await userOf(options)).toBe(uid);
    expect(await seen()).toEqual([basename(options.runDir), basename(options.stateDir)]);
    const before = clients.count();
    await until(() => clients.count() > before + 20, { what: 'answers of the successor' });
    expect(await clients.stop()).toEqual([]);
    // One that is root has no such view, and gives way to one that has it.
    await next({ user: null });
    expect(await seen()).toContain('secret.key');
    const others = asking(router.listen);
    await next({ user: uid });
    expect(await seen()).not.toContain('secret.key');
    expect(await others.stop()).toEqual([]);
    expect(await get(router.listen)).toBe('200 one');
  });

  it('goes by what it has on disk when it is started again, and leaves nothing of that to others', async () => {
    router = await world.start({ ...options, user: USER });
    options = { ...options, user: USER };
    await router.apply(await world.unit('one'));
    const pid = await world.pid(options);
    await router.close();
    process.kill(pid, 'SIGKILL');
    const port = Number(router.listen.split(':')[1]);
    options = { ...options, listen: { host: '127.0.0.1', port } };
    router = await world.start(options);
    expect(await get(router.listen)).toBe('200 one');
    const { uid, mode } = await stat(join(options.stateDir, 'state'));
    expect([uid, (mode & 0o777).toString(8)]).toEqual([USER, '700']);
    expect((await readdir(options.stateDir)).sort()).toEqual(['edge.log', 'programs', 'state']);
  });
});

it('has none where the server is not root, or apps have no users', async () => {
  const known = { home: '/', execPath: process.execPath };
  expect((await edgeUser({ ...known, isolation: 'plain' })).uid).toBeNull();
  if (NOT_ROOT !== '') expect((await edgeUser({ ...known, isolation: 'auto' })).uid).toBeNull();
});
