/** Commands beside the units, and starts, in a cluster that is slow, full, or breaks off what it says. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KubernetesClient } from '../../../kubernetes/client.ts';
import { KINDS } from '../../../kubernetes/kinds.ts';
import type { Pod } from '../../../kubernetes/objects.ts';
import type { ExecResult, Provisioner, UnitSpec } from '../../../domain/units/provisioner.ts';
import { SILENT } from '../../../lib/logger.ts';
import { NEVER, SERVES, UNLIMITED } from '../conformance-suite.ts';
import { createKubernetesProvisioner } from './kubernetes-provisioner.ts';
import { Tries } from './pod-state.ts';
import { SmallCluster } from './testing/cluster.ts';

const ID = 'aaaaaaaaaaaa';
const SETTINGS = { installation: 'ours', namespace: 'apps', imagePullSecret: null, user: 1234, reachedFrom: [] };
const UNIT: UnitSpec = {
  ...{ id: ID, app: 'shop', name: 'shop/0', process: 'web', rollout: 'first', artifact: 'shop/1' },
  ...{ image: `registry.test/shop@sha256:${'0'.repeat(64)}`, command: 'serve', env: { COLOUR: 'red' } },
  ...{ listens: true, limits: UNLIMITED },
};
const TIMEOUT_MS = 180_000;

let cluster: SmallCluster;
let provisioner: Provisioner;
let printed: string;

beforeEach(async () => {
  cluster = new SmallCluster();
  await cluster.server.start();
  const client = new KubernetesClient(cluster.server.access());
  provisioner = createKubernetesProvisioner({ name: 'cluster', client, settings: SETTINGS, logger: SILENT });
  printed = '';
});
afterEach(async () => {
  await provisioner.close();
  await cluster.close();
});

function run(command: string, timeoutMs = TIMEOUT_MS, seen = (): void => {}): Promise<ExecResult> {
  const output = (bytes: Uint8Array): void => {
    printed += Buffer.from(bytes).toString();
    seen();
  };
  return provisioner.exec({ unit: UNIT, command, output, signal: NEVER, timeoutMs });
}

const phases = (): (string | undefined)[] => cluster.server.store.of(KINDS.pods).map(({ status }) => status?.phase);

async function pod(): Promise<Pod> {
  await expect.poll(() => phases().length).toBe(1);
  return cluster.server.store.of(KINDS.pods)[0] as Pod;
}

const waiting = (reason: string): Pod['status'] => ({
  phase: 'Pending',
  containerStatuses: [{ name: 'app', ready: false, restartCount: 0, state: { waiting: { reason } } }],
});

it('gives every line to the shell as it is written, whatever the API makes of $$ and $(NAME)', async () => {
  await provisioner.ensure({ ...UNIT, command: 'print $$ $(COLOUR) $COLOUR; serve' });
  await provisioner.ready(ID, SERVES, NEVER);
  expect(await provisioner.lastLines(ID, 2)).toEqual(['$$ $(COLOUR) red', 'listening']);
  await run('print $$ $(COLOUR) $COLOUR');
  expect(printed).toBe('$$ $(COLOUR) red\n');
});

it('a command whose log breaks off runs on, all it prints comes once, and its code counts though it cannot be removed', async () => {
  cluster.server.forbidden = 'DELETE /apis/batch/v1/';
  const cutOnce = (): void => {
    if (printed === 'one\n') cluster.cutLogs();
  };
  const end = await run('print one; sleep 100; print two; print three', TIMEOUT_MS, cutOnce);
  expect([end, printed]).toEqual([{ code: 0, signal: null }, 'one\ntwo\nthree\n']);
});

it('the time of a command counts from when it runs', async () => {
  cluster.isFull = true;
  const late = expect(run('stay', 100)).rejects.toMatchObject({ code: 'timeout' });
  await pod();
  await delay(200);
  cluster.isFull = false;
  await expect.poll(phases).toEqual(['Running']);
  await late;
});

it('a command whose pod fails before it begins ends at once, with the reason', async () => {
  cluster.isFull = true;
  const ran = expect(run('stay')).rejects.toThrow('ended before it began: the node has no room');
  cluster.sayOf(await pod(), { phase: 'Failed', message: 'the node has no room' });
  await ran;
});

it('a pull that fails is tried again for a while, also of a unit that is waited for', async () => {
  cluster.isFull = true;
  await provisioner.ensure(UNIT);
  const [ready, found] = [provisioner.ready(ID, SERVES, NEVER), await pod()];
  cluster.sayOf(found, waiting('ErrImagePull') ?? {});
  await expect.poll(async () => (await provisioner.list())[0]?.reason).toContain('cannot be pulled');
  cluster.isFull = false;
  expect((await ready)?.port).toBe(8080);
  const tries = new Tries();
  expect(tries.isGivenUp({ failed: 'for now' }, 0)).toBe(false);
  expect(tries.isGivenUp({ failed: null }, 30_000)).toBe(false);
  expect(tries.isGivenUp({ failed: 'for now' }, 59_000)).toBe(false);
  expect(tries.isGivenUp({ failed: 'for now' }, 61_000)).toBe(true);
});

it('an image whose name is not valid is given up at once', async () => {
  cluster.isFull = true;
  const ran = expect(run('stay')).rejects.toMatchObject({ code: 'pull_failed' });
  cluster.sayOf(await pod(), waiting('InvalidImageName') ?? {});
  await ran;
});
