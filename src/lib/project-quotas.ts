/**
 * Limits that the kernel keeps to what directories hold, where their file system has quotas for projects (ext4 and XFS, mounted with
 * `prjquota`) and the programs for them are there. A directory with its limit is a project of its own.
 */
import { execFile } from 'node:child_process';
import { mkdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from './find-program.ts';
import { randomHex } from './ids.ts';
import { isEmpty } from './is-empty.ts';

export interface HeldLimit {
  /** 0 for none. */
  readonly bytes: number;
  /** And directories; 0 for none. */
  readonly files: number;
}

export interface ProjectQuotas {
  /** Why there are none, for people; null: there are. */
  readonly missing: string | null;
  /**
   * Holds what is made in the directories from now on, taken together, to the limit and a twentieth more, so that whoever looks at sizes sees
   * it pass. `of` is there as long as they are. A directory that is not empty and was not held before is left out. Idempotent.
   */
  hold(of: string, directories: readonly string[], limit: HeldLimit): Promise<void>;
}

const run = promisify(execFile);
const DEADLINE_MS = 60_000;
const MORE = 1.05;
/** Numbers of projects from here on are ours; what others of this machine use begins at 1. */
const FIRST_PROJECT = 0x8000_0000;

export const NO_QUOTAS: ProjectQuotas = { missing: 'not asked for', hold: () => Promise.resolve() };

/** `root`: is there, and on the file system of all that is to be held. Never throws. */
export async function openProjectQuotas(root: string): Promise<ProjectQuotas> {
  const none = (missing: string): ProjectQuotas => ({ ...NO_QUOTAS, missing });
  if (process.getuid?.() !== 0) return none('the server does not run as root');
  const [chattr, setquota] = [findProgram('chattr'), findProgram('setquota')];
  const mount = await mountOf(root).catch(() => null);
  if (mount === null || !mount.hasQuotas) return none('the file system is not mounted with prjquota');
  if (chattr === null) return none('there is no chattr (install the package e2fsprogs)');
  if (setquota === null) return none('there is no setquota (install the package quota)');
  const quotas = createProjectQuotas({ chattr, setquota, mount: mount.point });
  const trial = join(root, `.quota-probe-${randomHex(6)}`);
  try {
    await mkdir(trial, { mode: 0o700 });
    await quotas.hold(trial, [trial], { bytes: 1024 ** 2, files: 10 });
    await quotas.hold(trial, [trial], { bytes: 0, files: 0 });
    return quotas;
  } catch (error) {
    return none(`quotas cannot be set (${error instanceof Error ? error.message.trim().slice(0, 200) : 'unknown'})`);
  } finally {
    await rm(trial, { recursive: true, force: true }).catch(() => undefined);
  }
}

interface QuotaTools {
  readonly chattr: string;
  readonly setquota: string;
  /** Where the file system is mounted. */
  readonly mount: string;
}

function createProjectQuotas({ chattr, setquota, mount }: QuotaTools): ProjectQuotas {
  const tool = (file: string, args: readonly string[]) =>
    run(file, [...args], { timeout: DEADLINE_MS, env: { LC_ALL: 'C' } });
  return {
    missing: null,
    async hold(of, directories, { bytes, files }) {
      const project = `${FIRST_PROJECT + ((await stat(of)).ino % FIRST_PROJECT)}`;
      const fresh: string[] = [];
      for (const directory of directories) if (await isEmpty(directory)) fresh.push(directory);
      const blocks = Math.ceil((bytes * MORE) / 1024);
      // First the limit: a number that another directory had before may have an old one.
      await tool(setquota, ['-P', project, '0', `${blocks}`, '0', `${Math.ceil(files * MORE)}`, mount]);
      if (fresh.length > 0) await tool(chattr, ['-p', project, '+P', '--', ...fresh]);
    },
  };
}

/** Of all that are mounted above the path, the nearest; of several at one place, the newest. */
async function mountOf(path: string): Promise<{ readonly point: string; readonly hasQuotas: boolean } | null> {
  const real = await realpath(path);
  let nearest: { point: string; hasQuotas: boolean } | null = null;
  for (const line of (await readFile('/proc/self/mountinfo', 'utf8')).split('\n')) {
    const point = line.split(' ')[4] ?? '';
    const [type = '', , options = ''] = (line.split(' - ')[1] ?? '').split(' ');
    const isAbove = point === '/' || real === point || real.startsWith(`${point}/`);
    if (point === '' || !isAbove || point.length < (nearest?.point.length ?? 0)) continue;
    nearest = { point, hasQuotas: /^(?:ext4|xfs)$/.test(type) && /(?:^|,)p(?:rj)?quota(?:,|$)/.test(options) };
  }
  return nearest;
}
