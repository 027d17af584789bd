/** Says who has a TCP port of this machine, for people. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { type Listener, parseListeners } from './listeners.ts';
import { SANDBOX_MARK } from './processes.ts';

const LONGEST_COMMAND = 80;

/** Such as `process 4711 (node server.js) of the app "blog"`; `another program` where nothing is found out. */
export function portUser(port: number): string {
  const listeners = ['tcp', 'tcp6'].flatMap(tableOf).filter((one) => one.port === port);
  const pid = holderOf(new Set(listeners.map(({ inode }) => `socket:[${inode}]`)));
  if (pid !== null) return `process ${pid} (${commandOf(pid)})${ofApp(pid)}`;
  const [first] = listeners;
  return first === undefined ? 'another program' : `a program of the user ${first.uid}`;
}

function tableOf(name: string): Listener[] {
  try {
    return parseListeners(readFileSync(`/proc/self/net/${name}`, 'latin1'));
  } catch {
    // Another system, or a kernel without IPv6.
    return [];
  }
}

/** Null: whoever it is, this user may not look at its open files. */
function holderOf(sockets: ReadonlySet<string>): number | null {
  if (sockets.size === 0) return null;
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const holder = pids.find((pid) => descriptorsOf(pid).some((target) => sockets.has(target)));
  return holder === undefined ? null : Number(holder);
}

function descriptorsOf(pid: string): string[] {
  try {
    const directory = `/proc/${pid}/fd`;
    return readdirSync(directory).flatMap((name) => {
      try {
        return [readlinkSync(`${directory}/${name}`)];
      } catch {
        return [];
      }
    });
  } catch {
    // Of somebody else, or gone.
    return [];
  }
}

/** What it says of itself may be anything. */
function commandOf(pid: number): string {
  const words = read(pid, 'cmdline').replace(/\0+$/, '').replaceAll('\0', ' ');
  const shown = words.replace(/[^\x20-\x7e]/g, '?');
  return shown.length > LONGEST_COMMAND ? `${shown.slice(0, LONGEST_COMMAND)}...` : shown;
}

function ofApp(pid: number): string {
  const environment = read(pid, 'environ').split('\0');
  const valueOf = (name: string): string | undefined =>
    environment.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1);
  const app = valueOf('TANCHO_APP') ?? '';
  return valueOf(SANDBOX_MARK) !== undefined && /^[\w.-]+$/.test(app) ? ` of the app "${app}"` : '';
}

/** '' of a process of others, and of one that is gone. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}
