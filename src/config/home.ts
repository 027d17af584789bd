/** Where the one directory with all state is. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { EDGE_DOOR } from './config.ts';
import { ConfigError } from './config-error.ts';

/** Longest path a unix socket can have on every system we run on, less the final NUL. */
const LONGEST_SOCKET_PATH = process.platform === 'linux' ? 107 : 103;

/** TANCHO_HOME, absolute; `~/.tancho` when it is not set. Touches no file. */
export function homeOf(env: NodeJS.ProcessEnv, cwd: string = process.cwd()): string {
  const userHome = env['HOME'] ?? homedir();
  const given = env['TANCHO_HOME'] ?? '';
  if (given === '') return join(userHome, '.tancho');
  if (given === '~' || given.startsWith('~/')) return join(userHome, given.slice(1));
  return resolve(cwd, given);
}

/** The server's sockets lie below the home, and the system bounds their paths: none is longer than that of this one. */
export function checkHomeLength(home: string): void {
  const spare = LONGEST_SOCKET_PATH - Buffer.byteLength(join(home, 'run', EDGE_DOOR));
  if (spare >= 0) return;
  throw new ConfigError(
    `TANCHO_HOME: the path ${home} is ${-spare} bytes too long for the sockets in it.`,
    'Choose a shorter path.',
  );
}
