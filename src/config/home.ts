/** Where the one directory with all state is. */
import { join, resolve } from 'node:path';
import { userHome } from '../lib/user-home.ts';
import { EDGE_DOOR } from './config.ts';
import { ConfigError } from './config-error.ts';

/** Longest path a unix socket can have on every system we run on, less the final NUL. */
const LONGEST_SOCKET_PATH = process.platform === 'linux' ? 107 : 103;

/** TANCHO_HOME, absolute; `~/.tancho` when it is not set. Touches no file. Throws a ConfigError where the user has no home directory. */
export function homeOf(env: NodeJS.ProcessEnv, cwd: string = process.cwd()): string {
  const given = env['TANCHO_HOME'] ?? '';
  if (given === '') return join(homeOfUser(env), '.tancho');
  if (given === '~' || given.startsWith('~/')) return join(homeOfUser(env), given.slice(1));
  return resolve(cwd, given);
}

function homeOfUser(env: NodeJS.ProcessEnv): string {
  const home = env['HOME'] ?? userHome();
  if (home !== null) return home;
  throw new ConfigError('This user has no home directory to keep state in.', 'Set TANCHO_HOME to an absolute path.');
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
