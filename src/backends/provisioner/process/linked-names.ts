/** How the processes of an app find the apps that it is linked to: by names in a hosts file of their own, and by variables. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { linkHost, linkVariable } from '../../../domain/apps/link-names.ts';
import type { LinkedApp } from '../../../domain/units/provisioner.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';

export interface LinkedNames {
  /** The file in place of the machine's; null where that will do. */
  readonly hosts: string | null;
  readonly env: Readonly<Record<string, string>>;
}

const NO_NAMES: LinkedNames = { hosts: null, env: {} };

/** `directory`: of the process, where the file is put. */
export async function linkedNames(
  sandbox: Pick<Sandbox, 'linked'>,
  app: string,
  directory: string,
): Promise<LinkedNames> {
  const linked = sandbox.linked(app);
  if (linked.length === 0) return NO_NAMES;
  const machine = await readFile('/etc/hosts', 'utf8').catch(() => '127.0.0.1 localhost\n');
  const lines = linked.map(({ tenant, address }) => `${address} ${linkHost(tenant)}`);
  const hosts = join(directory, 'hosts');
  await writeFile(hosts, `${machine.trimEnd()}\n${lines.join('\n')}\n`, { mode: 0o644 });
  return {
    hosts,
    env: Object.fromEntries(linked.map(({ tenant }) => [linkVariable(tenant), `http://${linkHost(tenant)}`])),
  };
}

/** To the sandbox, apps are tenants and units are what it started under their ids. */
export async function linkApps(
  sandbox: Pick<Sandbox, 'link' | 'behindDoor'>,
  apps: readonly LinkedApp[],
): Promise<void> {
  await sandbox.link(
    apps.map(({ app, from, targets }) => {
      // Who is linked to it comes from within the networks, not by its door.
      const own = targets.map(({ unit, port }) => ({ id: unit, port: sandbox.behindDoor(unit) ?? port }));
      return { tenant: app, from, targets: own };
    }),
  );
}
