/** Everything of a home is killed at once, as by a crash of the machine's memory killer: the next start finds what is left, and its end leaves nothing. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { scopeOf } from '../../src/sandbox/level-sandbox.ts';
import { allowPush, createIdentity, createWorkTree, nodeApp, sshUrl } from '../support/git.ts';
import { processesOf } from '../support/processes-of.ts';
import { until } from '../support/until.ts';
import { startWorld } from '../support/world.ts';

const CGROUPS = '/sys/fs/cgroup';
const CGROUP_DEPTH = 4;

function names(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function groupsOf(scope: string, directory = CGROUPS, depth = CGROUP_DEPTH): string[] {
  const found: string[] = [];
  for (const name of names(directory)) {
    const child = path.join(directory, name);
    if (name.includes(scope)) found.push(child);
    else if (depth > 0) found.push(...groupsOf(scope, child, depth - 1));
  }
  return found;
}

/** What is on the machine of the home, beside its own directory. */
async function tracesOf(home: string): Promise<Record<string, string[]>> {
  const scope = scopeOf(path.join(home, 'sandbox'));
  const claims = names('/run/tancho/networks').filter((name) =>
    readFileSync(path.join('/run/tancho/networks', name), 'utf8').includes(scope),
  );
  return {
    namespaces: names('/run/netns').filter((name) => name.includes(scope)),
    links: names('/sys/class/net').filter((name) => name.includes(scope)),
    tables: execFileSync('nft', ['list', 'tables'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes(scope)),
    claims,
    groups: groupsOf(scope),
    mounts: readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((line) => line.includes(home) || line.includes(`tancho-${scope}`)),
    processes: (await processesOf(home)).map(({ pid, command }) => `${pid} ${command}`),
  };
}

const NOTHING = { namespaces: [], links: [], tables: [], claims: [], groups: [], mounts: [], processes: [] };

it('leaves nothing on the machine: no process, network, rule, group or mount', async (context) => {
  const world = await startWorld();
  const ann = await createIdentity();
  try {
    const isolation = /^Isolation: +(.*)$/m.exec(world.output())?.[1] ?? '';
    if (!isolation.includes('networks: own')) return context.skip(isolation);
    const token = await allowPush(world, ann);
    for (const app of ['one', 'two']) {
      const made = await world.api('POST', '/apps', { token, body: JSON.stringify({ name: app, platform: 'nodejs' }) });
      expect(made.status, made.text).toBe(200);
      const work = await createWorkTree(nodeApp(app), ann);
      const pushed = await work.push(sshUrl(world, app));
      expect(pushed.code, pushed.stderr).toBe(0);
      await work.dispose();
    }
    const alive = await tracesOf(world.home);
    for (const kind of ['namespaces', 'links', 'tables', 'claims', 'processes'])
      expect(alive[kind], kind).not.toEqual([]);
    // In rounds: whoever is left may have started somebody between the look and the kill.
    await until(
      async () => {
        const left = await processesOf(world.home);
        for (const { pid } of left) {
          try {
            process.kill(pid, 'SIGKILL');
          } catch {
            // It has ended meanwhile.
          }
        }
        return left.length === 0;
      },
      { what: 'the end of all', everyMs: 200 },
    );
    expect((await tracesOf(world.home))['namespaces']).not.toEqual([]);
    await world.startAgain();
    for (const app of ['one', 'two']) {
      await until(async () => (await world.fetchApp(app)).text === app, { what: `${app} to answer again` });
    }
    const stopped = await world.cli(['server', 'stop', '--all']);
    expect([stopped.code, stopped.stderr]).toEqual([0, '']);
    await until(async () => (await processesOf(world.home)).length === 0, { what: 'the end of all' });
    expect(await tracesOf(world.home)).toEqual(NOTHING);
  } finally {
    await world.dispose();
    await ann.dispose();
  }
});
