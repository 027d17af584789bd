import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

/** Files that take long, `*.long.test.ts`, run with TANCHO_TEST_SLOW=1 only; scripts/test.mjs says so. */
// What scripts/test.mjs runs a second time, in a cluster, with what runs there only.
const inCluster = process.env['TANCHO_TEST_ENGINE'] === 'kubernetes';
const CLUSTER_FILES = [
  'test/cluster/**/*.test.ts',
  'test/scenarios/{push,life}.test.ts',
  'test/scenarios/{app-operations,push-refused,services,shell}.long.test.ts',
  'src/backends/provisioner/kubernetes/kubernetes-provisioner.test.ts',
  'src/kubernetes/client.test.ts',
];
// Each has a cluster of its own, whose parts are killed: beside other clusters that takes more than small machines have.
const APART = ['test/cluster/chaos.test.ts', 'test/cluster/edges-on-nodes.test.ts'];
const isApart = process.env['TANCHO_TEST_CHAOS'] === '1';
const included = isApart
  ? APART
  : inCluster
    ? CLUSTER_FILES
    : ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'];
const leftOut = process.env['TANCHO_TEST_SLOW'] === '1' ? [] : ['**/*.long.test.ts'];

export default defineConfig({
  test: {
    include: included,
    exclude: [...configDefaults.exclude, ...(isApart ? [] : inCluster ? APART : [...leftOut, 'test/cluster/**'])],
    env: isApart ? { TANCHO_TEST_ENGINE: 'kubernetes' } : {},
    globalSetup: ['./test/support/run-folder.ts', ...(inCluster && !isApart ? ['./test/cluster/setup.ts'] : [])],
    fileParallelism: !isApart,
    pool: 'forks',
    // The files of a worker share its process and load the program once, which is a third of all work: a test leaves
    // environment variables, signal handlers and timers as it found them.
    isolate: false,
    // Node takes the types away itself, and a module is what it is in the program: loaded in a quarter of the time, and no slower for tests.
    // What it lacks, mocks of modules and JSX, no test uses.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongestFirst },
    // Scenarios mostly wait for processes of their own, so there are more files at once than small machines have processors; those that take long
    // work harder: four of them left two processors idle for some of the time, six would only make each other late.
    maxWorkers: Math.max(leftOut.length === 0 ? 5 : 6, availableParallelism()),
    // Bounds against hanging, not measures of speed.
    testTimeout: 480_000,
    // What is waited for comes in milliseconds, unless the machine is busy.
    expect: { poll: { timeout: 120_000, interval: 20 } },
    // The first file that needs the built program compiles it.
    hookTimeout: 480_000,
    // A cluster is taken down after the last test, and servers of interrupted ones; what is cut off there stays on the machine.
    teardownTimeout: inCluster || isApart ? 120_000 : 70_000,
    globals: false,
    // For test/contract: in the workers the runner gives BASE_URL a meaning of its own.
    provide: {
      contractServer: {
        baseUrl: process.env['BASE_URL'] ?? '',
        adminEmail: process.env['ADMIN_EMAIL'] ?? '',
        adminPassword: process.env['ADMIN_PASSWORD'] ?? '',
      },
    },
  },
});
