/**
 * Addresses of pods of this machine's clusters. To one that no pod has there is no way, and who tries fails at once: left to itself the machine
 * would send it to its gateway, and there are networks that answer for everybody.
 */
import { execFile } from 'node:child_process';
import { appendFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../src/lib/find-program.ts';

const ALL = 254;

/** One for each node, as `10.245.7`, that no other cluster has; they are kept in `directory` until removePodNetworks(). */
export async function takePodNetworks(directory: string, count: number): Promise<string[]> {
  const taken: string[] = [];
  const first = Math.floor(Math.random() * ALL);
  for (let step = 0; step < ALL && taken.length < count; step++) {
    const network = `10.245.${1 + ((first + step) % ALL)}`;
    if (!(await route('add', network))) continue;
    await appendFile(listIn(directory), `${network}\n`);
    taken.push(network);
  }
  if (taken.length < count) throw new Error(`This machine has no networks left for ${count} nodes.`);
  return taken;
}

export async function removePodNetworks(directory: string): Promise<void> {
  const networks = (await readFile(listIn(directory), 'utf8').catch(() => '')).split('\n').filter((one) => one !== '');
  for (const network of networks) await route('del', network);
}

const listIn = (directory: string): string => path.join(directory, 'networks');

async function route(what: 'add' | 'del', network: string): Promise<boolean> {
  const args = ['route', what, 'unreachable', `${network}.0/24`];
  return promisify(execFile)(findProgram('ip') ?? 'ip', args).then(
    () => true,
    () => false,
  );
}
