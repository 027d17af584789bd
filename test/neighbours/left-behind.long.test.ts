/** Everything of a home is killed at once, as by a crash of the machine's memory killer: the next start finds what is left, and its end leaves nothing. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { directTable } from '../../src/networks/address-plan.ts';
import { scopeOf } from '../../src/sandbox/level-sandbox.ts';
import { archive, deployArchive } from '../support/archives.ts';
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

/** Whoever runs as one of the users that were given to apps of the home. */
function processesOfUsers(home: string): string[] {
  const kept = JSON.parse(readFileSync(path.join(home, 'sandbox', 'tenants.json'), 'utf8')) as { uids: object };
  const users = new Set<unknown>(Object.values(kept.uids));
  return names('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && users.has(statSync(`/proc/${pid}`).uid);
    } catch {
      return false;
    }
  });
}

/** Of what does not stay: homes and layers of commands, and notes of who is to die with the server. */
function leftInside(home: string): string[] {
  const passing = ['sandbox/bound', 'sandbox/networks', 'sandbox/status'].flatMap((place) =>
    names(path.join(home, place)).map((name) => `${place}/${name}`),
  );
  // npm takes it for the home of a person, too.
  const hidden = names(home).filter((name) => name.startsWith('.') && name !== '.npm');
  return [...passing, ...hidden, ...commandsOf(home)];
}

function commandsOf(home: string): string[] {
  return names(path.join(home, 'units', '.run')).filter((name) => name.startsWith('run-'));
}

/** What is on the machine of the home, beside what stays in its own directory. */
async function tracesOf(home: string, temporary: string): Promise<Record<string, string[]>> {
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
    rules: execFileSync('ip', ['rule'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes(`lookup ${directTable(scope)}`)),
    claims,
    groups: groupsOf(scope),
    mounts: readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((line) => line.includes(home) || line.includes(`tancho-${scope}`)),
    processes: (await processesOf(home)).map(({ pid, command }) => `${pid} ${command}`),
    processesOfUsers: processesOfUsers(home),
    accounts: ['/etc/passwd', '/etc/group'].filter((file) => readFileSync(file, 'utf8') !== ACCOUNTS.get(file)),
    temporary: names(temporary),
    inside: leftInside(home),
  };
}

const NOTHING = {
  ...{ namespaces: [], links: [], tables: [], rules: [], claims: [], groups: [], mounts: [], processes: [] },
  ...{ processesOfUsers: [], accounts: [], temporary: [], inside: [] },
};
const ACCOUNTS = new Map(['/etc/passwd', '/etc/group'].map((file) => [file, readFileSync(file, 'utf8')]));

it('leaves nothing on the machine: no process, user, network, rule, group, mount or temporary directory', async (context) => {
  const temporary = mkdtempSync(path.join(tmpdir(), 'tancho-left-'));
  chmodSync(temporary, 0o711);
  const world = await startWorld({ env: { TMPDIR: temporary } });
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
    // A build, a command and a release command that never end by themselves.
    const endless = { ...nodeApp('three'), 'tancho.yaml': JSON.stringify({ hooks: { build: ['sleep 86400'] } }) };
    await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'three', platform: 'nodejs' }) });
    void deployArchive(world, token, 'three', await archive(endless)).catch(() => undefined);
    void world.api('POST', '/apps/one/run', { token, body: 'touch /tmp/a; sleep 86401' }).catch(() => undefined);
    const isRunning = async (what: string): Promise<boolean> =>
      (await processesOf(world.home)).some(({ command }) => command.includes(what));
    for (const what of ['sleep 86400', 'sleep 86401']) await until(() => isRunning(what), { what });
    const alive = await tracesOf(world.home, temporary);
    expect(commandsOf(world.home)).not.toEqual([]);
    for (const kind of ['namespaces', 'links', 'tables', 'claims', 'processes', 'processesOfUsers'])
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
    expect((await tracesOf(world.home, temporary))['namespaces']).not.toEqual([]);
    await world.startAgain();
    for (const app of ['one', 'two']) {
      await until(async () => (await world.fetchApp(app)).text === app, { what: `${app} to answer again` });
    }
    const stopped = await world.cli(['server', 'stop', '--all']);
    expect([stopped.code, stopped.stderr]).toEqual([0, '']);
    await until(async () => (await processesOf(world.home)).length === 0, { what: 'the end of all' });
    expect(await tracesOf(world.home, temporary)).toEqual(NOTHING);
  } finally {
    await world.dispose();
    await ann.dispose();
    rmSync(temporary, { recursive: true, force: true });
  }
}, 600_000);
