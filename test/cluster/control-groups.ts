/** Control groups of either version, for what a cluster runs. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const CGROUPS = '/sys/fs/cgroup';
/**
 * Nodes have machines of their own elsewhere. Here the pods of all of them are one group, which by itself has no more of a processor than any single
 * process outside of groups: beside dozens of these, apps that are asked 500 times a second would wait for half a minute.
 */
const SHARES = { 'cpu.shares': '8192', 'cpu.weight': '800' };

/**
 * Kubelets make none at the top: one in each hierarchy of version 1, one at all in version 2. `name`: below that of the machine. `goesFirst`: where the
 * processor is short, it has more of it than what is beside it.
 */
export function makeControlGroups(name: string, goesFirst: boolean): void {
  for (const hierarchy of hierarchies()) {
    let group = hierarchy;
    for (const part of name.split('/')) {
      group = path.join(group, part);
      mkdirSync(group, { recursive: true });
      for (const file of ['cpuset.cpus', 'cpuset.mems'])
        if (!isUnified() && existsSync(path.join(hierarchy, file)))
          writeFileSync(path.join(group, file), readFileSync(path.join(hierarchy, file)));
      for (const [file, share] of Object.entries(goesFirst ? SHARES : {}))
        if (existsSync(path.join(group, file))) writeFileSync(path.join(group, file), share);
    }
  }
}

export function hierarchies(): string[] {
  if (isUnified()) return [CGROUPS];
  const names = readdirSync(CGROUPS).map((name) => path.join(CGROUPS, name));
  return names.filter((hierarchy) => existsSync(path.join(hierarchy, 'cgroup.procs')));
}

const isUnified = (): boolean => existsSync(path.join(CGROUPS, 'cgroup.controllers'));
