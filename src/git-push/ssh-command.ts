/** Reads the command an SSH client asks for. Pure and strict: two programs, one path, nothing a shell would do. */
import type { GitServiceName } from './repositories.ts';

interface SshCommand {
  readonly service: GitServiceName;
  readonly path: string;
}

const MAX_COMMAND = 1_000;
const COMMAND = /^git[- ](receive-pack|upload-pack) +(?:'([^'\\]*)'|"([^"\\$`]*)"|([^\s'"\\]+))$/;

/** Null for everything that is not git. */
export function parseSshCommand(command: string): SshCommand | null {
  if (command.length > MAX_COMMAND) return null;
  const [, name, ...paths] = COMMAND.exec(command) ?? [];
  const path = paths.find((text) => text !== undefined);
  if (name === undefined || path === undefined) return null;
  return { service: name === 'receive-pack' ? 'git-receive-pack' : 'git-upload-pack', path };
}

/** `git-lfs-authenticate shop.git upload`. */
export function isLfsCommand(command: string): boolean {
  return /^git-lfs-(?:authenticate|transfer)(?:\s|$)/.test(command);
}
