/** The users and groups that a process finds by name. Those of the machine are nobody's business. */
import { userInfo } from 'node:os';

/** As whom a process sees itself. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

export interface AccountFiles {
  readonly passwd: string;
  readonly group: string;
}

/** Of every tenant: each is alone in what it sees. */
export const TENANT_NAME = 'app';
const ROOT: Account = { name: 'root', uid: 0, gid: 0, home: '/root' };
const NOBODY: Account = { name: 'nobody', uid: 65_534, gid: 65_534, home: '/nonexistent' };
/** Terminals belong to it. */
const TTY_GROUP = 'tty:x:5:';

export function accountFiles(own: Account): AccountFiles {
  const others = [ROOT, NOBODY].filter(({ uid, name }) => uid !== own.uid && name !== own.name);
  const accounts = [own, ...others].sort((a, b) => a.uid - b.uid);
  const groups = new Map(
    [ROOT, NOBODY, own].map(({ name, gid }) => [gid, `${gid === NOBODY.gid ? 'nogroup' : name}:x:${gid}:`]),
  );
  return {
    passwd: accounts.map(passwdLine).join(''),
    group: [...groups.values(), TTY_GROUP].map((line) => `${line}\n`).join(''),
  };
}

function passwdLine({ name, uid, gid, home }: Account): string {
  return `${name}:x:${uid}:${gid}::${/^\/[^:\n]*$/.test(home) ? home : '/'}:/bin/sh\n`;
}

/** Who runs the platform, by the name that the machine knows; a process without isolation is the same. */
export function machineUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return TENANT_NAME;
  }
}
