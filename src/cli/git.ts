/** The user's own git work tree: finding the app it belongs to, adding the remote. */
import { execFile } from 'node:child_process';
import type { Cli } from './cli.ts';
import { CliError, UsageError } from './errors.ts';

export const REMOTE = 'tancho';

/** Standard output of git, or null when it fails; git itself missing is an error. */
export function git(cli: Cli, args: readonly string[]): Promise<string | null> {
  const { cwd, env } = cli.context;
  return new Promise((resolve, reject) => {
    execFile('git', [...args], { cwd, env: { ...env, LC_ALL: 'C' }, timeout: 10_000 }, (error, stdout) => {
      if (error === null) resolve(stdout.trim());
      else if (error.code === 'ENOENT') reject(new CliError('git is not installed.', 'Install git and try again.'));
      else resolve(null);
    });
  });
}

/** The top folder of the work tree around the working directory; null outside of one. */
export function workTree(cli: Cli): Promise<string | null> {
  return git(cli, ['rev-parse', '--show-toplevel']);
}

/** The app that a command is about: named, or that of the git remote "tancho". */
export async function appName(cli: Cli, named: string | undefined): Promise<string> {
  if (named !== undefined && named !== '') return named;
  const url = await git(cli, ['remote', 'get-url', '--', REMOTE]);
  const found = url === null ? undefined : /([^/:]+?)(?:\.git)?\/?$/.exec(url)?.[1];
  if (found !== undefined) return found;
  throw new UsageError(
    `No app is named, and there is no git remote "${REMOTE}" here.`,
    'Name it with -a <app>; "tancho app list" shows your apps.',
  );
}
