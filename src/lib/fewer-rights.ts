/** Gives up, for this process and whatever it starts, what root can do that nothing here needs. */
import { readFileSync } from 'node:fs';
import { findProgram } from './find-program.ts';

/** By their numbers in the kernel. */
const NEEDLESS = {
  linux_immutable: 9,
  ipc_owner: 15,
  sys_module: 16,
  sys_rawio: 17,
  sys_pacct: 20,
  sys_boot: 22,
  sys_time: 25,
  sys_tty_config: 26,
  lease: 28,
  audit_control: 30,
  mac_override: 32,
  mac_admin: 33,
  syslog: 34,
  wake_alarm: 35,
  block_suspend: 36,
  audit_read: 37,
} as const;

/** What it takes to give any of them up. */
const SETPCAP = 8;

/** Of /proc/self/status: those that are there to be given up. */
export function needlessOf(status: string): string[] {
  const has = (set: string, bit: number): boolean => {
    const bits = new RegExp(`^${set}:\\s*([0-9a-f]+)$`, 'm').exec(status)?.[1] ?? '0';
    return ((BigInt(`0x${bits}`) >> BigInt(bit)) & 1n) === 1n;
  };
  if (!has('CapEff', SETPCAP)) return [];
  return Object.entries(NEEDLESS).flatMap(([name, bit]) => (has('CapBnd', bit) ? name : []));
}

/**
 * The process begins anew without them, by the same id and behind the words of `under`, unless it has none of them. To be called first of all: what it has
 * opened or begun is lost. It goes on as it is where the system has no means for this.
 */
export async function giveUpNeedless(under: () => Promise<readonly string[]>): Promise<void> {
  if (process.platform !== 'linux' || process.geteuid?.() !== 0 || process.channel !== undefined) return;
  const names = needlessOf(readFileSync('/proc/self/status', 'latin1'));
  const setpriv = findProgram('setpriv');
  if (names.length === 0 || setpriv === null || process.execve === undefined) return;
  const bounds = `--bounding-set=${names.map((name) => `-${name}`).join(',')}`;
  const again = [...(await under()), process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve(setpriv, [setpriv, bounds, '--', ...again], process.env);
}
