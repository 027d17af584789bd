/**
 * The order of test files. First what takes minutes, for what is begun last ends last, and then one processor waits for it. Then those that
 * start many programs: a fork copies the tables of the memory of its worker, which grows with every file that has run in it (0.7 ms with
 * 50 MB, 11 ms with 350 MB). Then what takes more than a minute, what else takes long, and what is short by its size. At the end, for a run that
 * has no time left, is what looks once more, from elsewhere, at what others of them have shown.
 */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Run with TANCHO_TEST_SLOW=1 only, or in a cluster. */
const MINUTES = [
  'test/cluster/chaos.test.ts',
  'test/cluster/install.test.ts',
  'test/cluster/moves.test.ts',
  'test/cluster/apps.test.ts',
  'test/dashboard/screens.long.test.ts',
  'test/dashboard/error-states.long.test.ts',
  'test/corpus/hints-quick.long.test.ts',
  'test/corpus/pushed-others.long.test.ts',
  'test/corpus/hints-languages.long.test.ts',
  'test/corpus/hints-packages.long.test.ts',
  'test/corpus/pushed-python.long.test.ts',
  'test/corpus/pushed-node.long.test.ts',
  'test/neighbours/greedy.long.test.ts',
  'test/scenarios/mixed-load.long.test.ts',
  'test/neighbours/fast-writer.long.test.ts',
  'test/neighbours/pairs.long.test.ts',
  'test/scenarios/upgrade.long.test.ts',
];

const HEAVY = [
  'src/backends/provisioner/process/process-provisioner.test.ts',
  'test/corpus/pushed.test.ts',
  'src/git-push/push.test.ts',
  'src/backends/provisioner/process/isolation.test.ts',
  'src/backends/provisioner/process/adoption.test.ts',
  'src/backends/provisioner/process/shell.test.ts',
  'src/networks/networks.test.ts',
  'src/sandbox/probe.test.ts',
  'src/backends/provisioner/process/image.test.ts',
  'src/backends/provisioner/process/linked-names.test.ts',
  'src/backends/provisioner/process/volume-mounts.test.ts',
  'src/sandbox/many-users.test.ts',
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
  'src/backends/log-store/sql/sql-log-store.test.ts',
  'test/contract/contract.test.ts',
  'src/backends/store/sql/sql-store.test.ts',
  'test/domain/rollback.test.ts',
  'test/domain/pools.test.ts',
  'test/domain/crash-deploys.test.ts',
  'test/domain/crash-changes.test.ts',
  'test/domain/service-sequences.test.ts',
];

/** More than a minute each. */
const LONG = [
  'test/scenarios/contract.long.test.ts',
  'test/scenarios/fuzz.long.test.ts',
  'test/scenarios/certificates.long.test.ts',
  'test/dashboard/begin.long.test.ts',
  'test/dashboard/long-log.long.test.ts',
  'test/scenarios/crash.long.test.ts',
  'test/neighbours/rootless-strangers.long.test.ts',
  'src/backends/router/edge/counter-workers.long.test.ts',
  'test/scenarios/moving-state.long.test.ts',
  'test/domain/provider-sequences.test.ts',
  'src/sandbox/unified-groups.long.test.ts',
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

const FIRST = [...MINUTES, ...HEAVY, ...LONG];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const gone = [...FIRST, ...LAST].filter((name) => !existsSync(`${root}/${name}`));
    if (gone.length > 0)
      throw new Error(`test/support/longest-first.ts names files that are not there: ${gone.join(', ')}`);
    const places = new Map(FIRST.map((name, place) => [name, place]));
    for (const [place, name] of LAST.entries()) places.set(name, FIRST.length + 2 + place);
    const placeOf = ({ moduleId }: TestSpecification): number =>
      places.get(relative(root, moduleId)) ?? FIRST.length + (moduleId.endsWith('.long.test.ts') ? 0 : 1);
    // Sorting is stable: among others it stays as it is by default.
    return (await super.sort(files)).sort((a, b) => placeOf(a) - placeOf(b));
  }
}
