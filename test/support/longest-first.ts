/**
 * The order of test files. First what `npm test` runs on its own, so that a run that is cut off has done all of it, with what takes long and shows
 * what nothing else does: of that, what takes minutes or starts many programs, for a fork copies the tables of the memory of its worker, which grows
 * with every file that has run in it (0.7 ms with 50 MB, 11 ms with 350 MB), then the others by their size. Then what takes long, the longest first,
 * for what is begun last ends last, and then one processor waits for it. At the end is what looks once more, from elsewhere, at what others have shown.
 */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Run in a cluster only, and the longest there. */
const IN_CLUSTER = [
  'test/cluster/chaos.test.ts',
  'test/cluster/install.test.ts',
  'test/cluster/moves.test.ts',
  'test/cluster/apps.test.ts',
];

const HEAVY = [
  'src/backends/provisioner/process/process-provisioner.test.ts',
  'test/corpus/pushed.test.ts',
  'src/git-push/push.test.ts',
  'src/backends/provisioner/process/isolation.test.ts',
  'src/backends/provisioner/process/adoption.long.test.ts',
  'src/backends/provisioner/process/shell.test.ts',
  'src/networks/networks.test.ts',
  'src/sandbox/probe.test.ts',
  'src/backends/provisioner/process/image.test.ts',
  'src/backends/provisioner/process/linked-names.long.test.ts',
  'src/backends/provisioner/process/volume-mounts.test.ts',
  'src/sandbox/many-users.long.test.ts',
  'src/sandbox/root.test.ts',
  'src/backends/git-host/bare-repos/archive/import-archive.test.ts',
  'src/backends/git-host/bare-repos/bare-repos.test.ts',
  'src/backends/git-host/bare-repos/hostile-pushes.test.ts',
  'src/backends/builder/platform/cache/dependency-cache.test.ts',
  'test/neighbours/strangers.test.ts',
  'src/sandbox/seccomp/seccomp.test.ts',
  'src/sandbox/accounts.test.ts',
  'src/git-push/http.test.ts',
  'src/git-push/ssh.test.ts',
  'src/keeper/kept-units.test.ts',
  'src/backends/provisioner/kubernetes/kubernetes-provisioner.test.ts',
  'test/scenarios/push.test.ts',
  'test/scenarios/life.test.ts',
  'src/backends/router/edge/edge-handover.test.ts',
  'src/backends/router/edge/edge-router.test.ts',
  'src/backends/router/edge/edge-workers.test.ts',
  'src/backends/router/edge/edge-tls.test.ts',
  'src/lib/remove-tree.test.ts',
  'test/scenarios/taken-over.long.test.ts',
  'test/scenarios/building-pod.long.test.ts',
  'src/networks/rootless/rootless.long.test.ts',
  'src/networks/inherited-addresses.long.test.ts',
  'src/networks/published-ports.long.test.ts',
  'src/backends/router/edge/edge-user.long.test.ts',
  'src/backends/router/edge/edge-leaving.long.test.ts',
  'src/daemon/own-edge.long.test.ts',
  'src/backends/store/sql/opening.test.ts',
  'src/backends/store/sql/kill.test.ts',
  'src/backends/log-store/sql/kill.test.ts',
  'src/backends/backup-store/directory/directory-backups.test.ts',
  'src/lib/heartbeats.long.test.ts',
  'src/lib/small-start.long.test.ts',
  'src/backends/builder/platform/conformance.test.ts',
  'src/backends/builder/platform/submodules.test.ts',
  'src/cli/server/stop.test.ts',
  'src/domain/recovery.test.ts',
  'src/backends/log-store/sql/sql-log-store.test.ts',
  'test/contract/contract.test.ts',
  'src/backends/store/sql/sql-store.test.ts',
  'test/domain/rollback.test.ts',
  'test/domain/pools.test.ts',
  'test/domain/crash-deploys.test.ts',
  'test/domain/crash-changes.test.ts',
  'test/domain/service-sequences.test.ts',
  'test/domain/provider-sequences.test.ts',
  'test/domain/crash-recovery.test.ts',
  'src/log-thread/log-thread.test.ts',
  'src/backends/store/sql/migrations/migrations.test.ts',
  'test/contract/late-failures.test.ts',
];

/** Run with TANCHO_TEST_SLOW=1 only: about a minute each, or two. */
const LONG = [
  'test/corpus/pushed-node.long.test.ts',
  'test/corpus/pushed-others.long.test.ts',
  'test/scenarios/contract.long.test.ts',
  'test/corpus/hints-languages.long.test.ts',
  'test/corpus/hints-quick.long.test.ts',
  'test/dashboard/screens.long.test.ts',
  'test/dashboard/begin.long.test.ts',
  'test/neighbours/fast-writer.long.test.ts',
  'test/neighbours/greedy.long.test.ts',
  'test/scenarios/upgrade.long.test.ts',
  'test/corpus/pushed-python.long.test.ts',
  'test/scenarios/certificates.long.test.ts',
  'test/neighbours/rootless-strangers.long.test.ts',
  'test/scenarios/backup.long.test.ts',
  'test/scenarios/mixed-load.long.test.ts',
  'test/scenarios/platforms.long.test.ts',
  'test/scenarios/moving-state.long.test.ts',
  'test/dashboard/canaries.long.test.ts',
  'test/scenarios/crash.long.test.ts',
  'src/sandbox/unified-groups.long.test.ts',
  'test/dashboard/long-log.long.test.ts',
  'test/scenarios/fuzz.long.test.ts',
  'test/neighbours/pairs.long.test.ts',
  'test/corpus/hints-packages.long.test.ts',
];

const LAST = [
  'test/domain/certificates-year.long.test.ts',
  'test/scenarios/bursts.long.test.ts',
  'test/scenarios/versions.long.test.ts',
  'test/dashboard/actions.long.test.ts',
  'test/dashboard/first-steps.long.test.ts',
  'test/dashboard/administration.long.test.ts',
  'test/dashboard/keyboard.long.test.ts',
  'test/dashboard/timeline.long.test.ts',
  'test/dashboard/newcomer.long.test.ts',
  'test/dashboard/many-pages.long.test.ts',
];

/** Places of what is named nowhere: those of the groups begin with 0, 1, 2 and 3. */
const AFTER_HEAVY = 1.999;
const AFTER_LONG = 2.999;

/** In their order; what is named nowhere comes after HEAVY, or, of what takes long, after LONG. */
const NAMED = [IN_CLUSTER, HEAVY, LONG, LAST];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const gone = NAMED.flat().filter((name) => !existsSync(`${root}/${name}`));
    if (gone.length > 0)
      throw new Error(`test/support/longest-first.ts names files that are not there: ${gone.join(', ')}`);
    const places = new Map<string, number>();
    for (const [group, names] of NAMED.entries())
      for (const [at, name] of names.entries()) places.set(name, group + at / names.length);
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const isLong = moduleId.endsWith('.long.test.ts');
      return places.get(relative(root, moduleId)) ?? (isLong ? AFTER_LONG : AFTER_HEAVY);
    };
    // Sorting is stable: among others it stays as it is by default.
    return (await super.sort(files)).sort((a, b) => placeOf(a) - placeOf(b));
  }
}
