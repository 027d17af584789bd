/** One trial run at an isolation level: can a process of a tenant enter a directory of TANCHO_HOME and read a file there? */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { randomHex } from '../lib/ids.ts';
import type { SystemView } from './plan.ts';
import { childEnd } from './child-end.ts';
import type { Sandbox, SandboxRequest } from './sandbox.ts';

/** A trial takes some 50 ms. A machine that has too much to do is not to get a weaker level than it has. */
const TRIAL_DEADLINE_MS = 60_000;
const EXPECTED = 'reachable';

/** Null when it works, else why not. Throws nothing. */
export async function tryLevel(sandbox: Sandbox, directory: string, tenant: string): Promise<string | null> {
  const id = `probe-${randomHex(12)}`;
  try {
    const file = join(directory, 'file');
    writeFileSync(file, EXPECTED);
    await sandbox.own(directory, tenant);
    const binds = [{ path: directory, writable: true }];
    const { code, output, errors } = await run(sandbox, { cwd: directory, binds, file, tenant, id });
    if (code === 0 && output === EXPECTED) return null;
    if (sandbox.level === 'user' && /permission denied/i.test(errors)) {
      return `other users cannot enter ${directory.replace(/\/[^/]*$/, '')} (put TANCHO_HOME where they can, such as /var/lib/tancho with mode 0711, or install bubblewrap)`;
    }
    return `a trial run ended with code ${code}: ${errors.trim().slice(0, 300) || 'no message'}`;
  } catch (error) {
    return `a trial run failed: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    await sandbox.release(id).catch(() => undefined);
  }
}

/** The same with a root file system of its own, which here is the system's again. Throws nothing. */
export async function tryRoot(
  sandbox: Sandbox,
  directory: string,
  tenant: string,
  system: SystemView,
): Promise<string | null> {
  const id = `probe-${randomHex(12)}`;
  try {
    mkdirSync(directory);
    writeFileSync(join(directory, 'file'), EXPECTED);
    const atTop = system.links.filter(({ path }) => dirname(path) === '/');
    for (const { path, target } of atTop) symlinkSync(target, join(directory, path));
    await sandbox.own(directory, tenant);
    const root = { directory, uid: 1000, gid: 1000 };
    const binds = system.directories.map((path) => ({ path, writable: false }));
    const { code, output, errors } = await run(sandbox, { cwd: '/', root, binds, file: '/file', tenant, id });
    if (code === 0 && output === EXPECTED) return null;
    return `a trial run ended with code ${code}: ${errors.trim().slice(0, 300) || 'no message'}`;
  } catch (error) {
    return `a trial run failed: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    await sandbox.release(id).catch(() => undefined);
  }
}

interface Trial extends Pick<SandboxRequest, 'cwd' | 'binds' | 'root' | 'tenant' | 'id'> {
  readonly file: string;
}

async function run(sandbox: Sandbox, trial: Trial): Promise<{ code: number | null; output: string; errors: string }> {
  const started = await sandbox.spawn({
    argv: ['/bin/cat', trial.file],
    cwd: trial.cwd,
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    tenant: trial.tenant,
    binds: trial.binds,
    ...(trial.root !== undefined && { root: trial.root }),
    limits: { memoryBytes: 64 * 1024 * 1024, cpuMillis: 1000, processes: 64 },
    stdio: ['ignore', 'pipe', 'pipe'],
    dieWithParent: true,
    id: trial.id,
  });
  const { child } = started;
  const { ended, end } = childEnd(sandbox, started, trial.id);
  const timer = setTimeout(end, TRIAL_DEADLINE_MS);
  let output = '';
  let errors = '';
  child.stdout?.on('data', (bytes: Buffer) => (output += bytes.toString()));
  child.stderr?.on('data', (bytes: Buffer) => (errors += bytes.toString()));
  const closed = new Promise((resolve) => child.once('close', resolve));
  try {
    const [{ code }] = await Promise.all([ended, closed]);
    return { code, output, errors };
  } finally {
    clearTimeout(timer);
  }
}
