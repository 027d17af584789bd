/** How a control gets the ports that were kept while none was there: its process begins anew behind a program that is handed them. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../../lib/processes.ts';
import { receiver } from './holder.ts';

export interface Reclaimed {
  /** The connection, whose end is the end of this control to whoever keeps the ports. */
  readonly link: number;
  /** Descriptors by label. */
  readonly ports: ReadonlyMap<string, number>;
}

/** For one process: `<pid> <link> <label>=<descriptor>...`, the pid alone where nothing was handed over. */
const VARIABLE = 'TANCHO_RECLAIMED';

export function holderSocket(home: string): string {
  return join(home, 'run', 'ports.sock');
}

/** What the program is to be started behind, by the same process; empty: nobody keeps ports for it, or it has them. */
export function reclaiming(home: string, env: NodeJS.ProcessEnv = process.env): readonly string[] {
  const socket = holderSocket(home);
  const isDone = env[VARIABLE]?.split(' ')[0] === `${process.pid}`;
  if (isDone || process.channel !== undefined || process.execve === undefined) return [];
  return isSocket(socket) && !isControlThere(home) ? (receiver(socket, VARIABLE) ?? []) : [];
}

/** The process goes on where nobody keeps ports for it. To be called before anything is opened or begun. */
export function reclaimPorts(home: string): void {
  const [program, ...words] = reclaiming(home);
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  if (program !== undefined) process.execve?.(program, [program, ...words, ...again], process.env);
}

/** Once; what this process starts does not see it. */
export function takeReclaimed(env: NodeJS.ProcessEnv = process.env): Reclaimed | null {
  const [pid, link, ...entries] = env[VARIABLE]?.split(' ') ?? [];
  delete env[VARIABLE];
  if (pid !== `${process.pid}` || link === undefined || entries.length === 0) return null;
  const ports = entries.map((entry): [string, number] => {
    const at = entry.lastIndexOf('=');
    return [entry.slice(0, at), Number(entry.slice(at + 1))];
  });
  return { link: Number(link), ports: new Map(ports) };
}

/** A home that cannot be looked into is for the start to report. */
function isSocket(path: string): boolean {
  try {
    return statSync(path).isSocket();
  } catch {
    return false;
  }
}

/** As in lib/pid-file.ts, before anything of it is loaded. */
function isControlThere(home: string): boolean {
  try {
    const [pid, start = ''] = readFileSync(join(home, 'run', 'control.pid.start'), 'utf8')
      .trim()
      .split(' ');
    return isAlive(Number(pid), start);
  } catch {
    return false;
  }
}
