/**
 * Whether the pods of `tancho install kubernetes --builds` have what sandboxes take: what the manifest gives them and nothing else, in a place where parts of /proc are
 * covered and read-only as containerd has it. The filter of system calls and the profile of AppArmor, which the manifest takes away, are not there.
 */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { manifestsOf } from '../../src/cli/install/manifests.ts';
import { findProgram } from '../../src/lib/find-program.ts';
import { NOT_ROOT, skipFor } from '../support/skips.ts';
import { run } from '../support/world.ts';

const COVER = `set -e
mount --make-rprivate /
mount -t tmpfs tmpfs /run
ip link set lo up
mount -t proc proc /proc
for place in /proc/acpi /proc/scsi /proc/asound; do [ ! -d $place ] || mount -t tmpfs -o ro tmpfs $place; done
for place in /proc/kcore /proc/keys /proc/latency_stats /proc/timer_list; do [ ! -e $place ] || mount --bind /dev/null $place; done
for place in /proc/bus /proc/fs /proc/irq /proc/sys; do mount --bind $place $place; mount -o remount,bind,ro $place; done
exec "$@"
`;
const NEEDED = ['unshare', 'setpriv', 'mount', 'bwrap', 'ip', 'nft'];
const missing = NEEDED.filter((name) => findProgram(name) === null);
const why = NOT_ROOT === '' && missing.length > 0 ? `there is no ${missing.join(', ')}` : NOT_ROOT;

interface BuildingPod {
  readonly command: readonly string[];
  readonly securityContext: {
    readonly privileged?: boolean;
    readonly capabilities: { readonly add: readonly string[] };
  };
}

function buildingPod(): BuildingPod {
  const none = { image: 'any', servers: 1, serviceType: 'ClusterIP', pullSecret: null, edges: null };
  const all = manifestsOf({
    ...{ ...none, namespace: 'tancho', appsNamespace: 'apps', settings: {}, secrets: {} },
    ...{ buildsCode: true, showsUsage: false },
  });
  const { spec } = all.find(({ kind }) => kind === 'Deployment') as unknown as {
    spec: { template: { spec: { containers: [BuildingPod] } } };
  };
  return spec.template.spec.containers[0];
}

describe('a pod that builds', skipFor(why), () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tancho-pod-'));
    await chmod(folder, 0o711);
    const probe = path.resolve('test', 'support', 'found-sandbox.ts');
    await writeFile(path.join(folder, 'tancho'), `#!/bin/sh\nexec "${process.execPath}" "${probe}" "${folder}"\n`);
    await chmod(path.join(folder, 'tancho'), 0o755);
    await writeFile(path.join(folder, 'cover'), COVER);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** What `tancho` finds there, with the rights of the pod but for one. */
  async function found(command: readonly string[], without = ''): Promise<string> {
    const { capabilities } = buildingPod().securityContext;
    const kept = capabilities.add.filter((name) => name !== without).map((name) => `+${name.toLowerCase()}`);
    const apart = ['--mount', '--net', '--pid', '--fork', '--', '/bin/sh', path.join(folder, 'cover')];
    const rights = [findProgram('setpriv') ?? '', `--bounding-set=-all,${kept.join(',')}`, '--inh-caps=-all', '--'];
    const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}`, HOME: folder };
    const ran = await run(findProgram('unshare') ?? '', [...apart, ...rights, ...command], { cwd: folder, env });
    return ran.stdout + ran.stderr;
  }

  it('has users, roots and networks of their own for builds, and is not privileged', async () => {
    const { command, securityContext } = buildingPod();
    expect(securityContext.privileged).toBeUndefined();
    const says = await found(command);
    expect(JSON.parse(says), says).toMatchObject({ level: 'bubblewrap', roots: true, hasNetworks: true });
  });

  it('has no roots for them without a /proc of its own', async () => {
    const says = await found(['tancho']);
    expect(JSON.parse(says), says).toMatchObject({ level: 'bubblewrap', roots: false });
    expect(says).toContain('mount proc');
  });

  it.each(['SYS_ADMIN', 'NET_ADMIN', 'SETUID', 'SETGID', 'CHOWN', 'DAC_OVERRIDE'])('needs %s', async (name) => {
    const says = await found(buildingPod().command, name);
    expect(says).not.toMatch(/"level":"bubblewrap","roots":true,"hasNetworks":true/);
  });
});
