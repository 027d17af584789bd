/** Starting programs as a person in a terminal would, and waiting for what they show. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { ANN } from './git-people.ts';
import { until } from './until.ts';

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly done: Promise<Finished>;
  /** Resolves when standard error holds the text. */
  shows(text: string): Promise<void>;
  stderr(): string;
  /** What Ctrl-C in a terminal does: every process of the command gets SIGINT. */
  interrupt(): void;
}

function missing(program: string): boolean {
  try {
    execFileSync(program, [program === 'ssh' ? '-V' : '--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return true;
  }
}

/** Why tests that need git and ssh are skipped; empty where both are there. */
export function missingPrograms(): string {
  const lacking = ['git', 'ssh'].filter(missing);
  return lacking.length === 0 ? '' : `${lacking.join(' and ')} cannot be started`;
}

export function start(
  home: string,
  program: string,
  args: readonly string[],
  how: { cwd?: string; key?: string },
): Running {
  const ssh = ['ssh', '-F', '/dev/null', ...sshOptions(how.key)].join(' ');
  const child = spawn(program, args, {
    cwd: how.cwd ?? home,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_SSH_COMMAND: ssh,
      GIT_AUTHOR_NAME: 'Ann',
      GIT_AUTHOR_EMAIL: ANN,
      GIT_COMMITTER_NAME: 'Ann',
      GIT_COMMITTER_EMAIL: ANN,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const done = new Promise<Finished>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return {
    child,
    done,
    stderr: () => stderr,
    interrupt: () => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
    },
    shows: (text) =>
      until(
        () => {
          if (stderr.includes(text)) return true;
          if (child.exitCode !== null) throw new Error(`ended without showing "${text}":\n${stderr}`);
          return false;
        },
        { timeoutMs: 120_000, everyMs: 5, what: `"${text}"` },
      ),
  };
}

export function sshOptions(key: string | undefined): string[] {
  const settings = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'IdentitiesOnly=yes', 'LogLevel=ERROR'];
  settings.push('BatchMode=yes', 'IdentityAgent=none');
  return [...settings.flatMap((setting) => ['-o', setting]), ...(key === undefined ? [] : ['-i', key])];
}

/** A door that a test opens. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
