import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { randomHex } from '../lib/ids.ts';
import { KubernetesClient } from './client.ts';
import { follow, keyOf } from './follow.ts';
import { kubeconfigAccess } from './kubeconfig.ts';
import { KINDS } from './kinds.ts';
import { isStatus } from './kubernetes-error.ts';
import type { Deployment, Secret } from './objects.ts';
import { ApiServer } from './testing/api-server.ts';

/** Of a cluster whose API server is asked the same. */
const REAL = process.env['TANCHO_TEST_KUBERNETES'] ?? '';
const NEVER = new AbortController().signal;

interface Target {
  readonly client: KubernetesClient;
  readonly namespace: string;
  close(): Promise<void>;
}

async function smallServer(): Promise<Target> {
  const server = new ApiServer();
  await server.start();
  const client = new KubernetesClient(server.access());
  const close = async (): Promise<void> => {
    client.close();
    await server.close();
  };
  return { client, namespace: 'test', close };
}

async function realServer(): Promise<Target> {
  const client = new KubernetesClient(await kubeconfigAccess(REAL, null));
  const namespace = `tancho-test-${randomHex(8)}`;
  await client.create(KINDS.namespaces, { metadata: { name: namespace } });
  const close = async (): Promise<void> => {
    await client.delete(KINDS.namespaces, { name: namespace });
    client.close();
  };
  return { client, namespace, close };
}

function clientCases(open: () => Promise<Target>): void {
  let target: Target;
  let count = 0;
  beforeAll(async () => void (target = await open()));
  afterAll(() => target.close());

  const secret = (data: Record<string, string>, labels: Record<string, string> = {}): Secret => ({
    metadata: { name: `secret-${++count}`, namespace: target.namespace, labels },
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
  });
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (error: unknown) => error,
    );

  it('creates, reads and deletes an object, and says of one that is not there that it is not', async () => {
    const { client } = target;
    const made = await client.create(KINDS.secrets, secret({ one: '1' }));
    expect(made.metadata.uid).toMatch(/./);
    expect(await client.get(KINDS.secrets, made.metadata)).toEqual(made);
    expect(
      isStatus(
        await failure(
          client.create(KINDS.secrets, {
            ...made,
            metadata: { name: made.metadata.name, namespace: target.namespace },
          }),
        ),
        409,
      ),
    ).toBe(true);
    expect(await client.delete(KINDS.secrets, made.metadata)).toBe(true);
    expect(await client.get(KINDS.secrets, made.metadata)).toBeNull();
    expect(await client.delete(KINDS.secrets, made.metadata)).toBe(false);
    expect(await client.version()).toMatch(/^v\d/);
  });

  it('applies: what is missing the next time goes, what others have set stays, and twice the same is no change', async () => {
    const { client } = target;
    const first = secret({ one: '1', two: '2' });
    await client.apply(KINDS.secrets, first);
    await client.patch(KINDS.secrets, first.metadata, { metadata: { annotations: { theirs: 'stays' } } });
    const next = { ...first, data: { two: Buffer.from('3').toString('base64') } };
    const applied = await client.apply(KINDS.secrets, next);
    expect(applied.data).toEqual(next.data);
    expect(applied.metadata.annotations?.['theirs']).toBe('stays');
    const again = await client.apply(KINDS.secrets, next);
    expect(again.metadata.resourceVersion).toBe(applied.metadata.resourceVersion);
  });

  it('refuses what was written after a reader has read', async () => {
    const { client } = target;
    const read = await client.create(KINDS.secrets, secret({ one: '1' }));
    const { resourceVersion } = read.metadata;
    await client.patch(KINDS.secrets, read.metadata, { data: { one: Buffer.from('2').toString('base64') } });
    const stale = await Promise.all(
      [
        client.replace(KINDS.secrets, read),
        client.patch(KINDS.secrets, read.metadata, { metadata: { resourceVersion, labels: { a: 'b' } } }),
        client.delete(KINDS.secrets, read.metadata, { resourceVersion: resourceVersion ?? '' }),
        client.delete(KINDS.secrets, read.metadata, { uid: 'another' }),
      ].map(failure),
    );
    for (const error of stale) expect(error).toMatchObject({ status: 409, reason: 'Conflict' });
    const fresh = await client.get(KINDS.secrets, read.metadata);
    if (fresh === null) throw new Error('It is there.');
    expect((await client.replace(KINDS.secrets, { ...fresh, data: {} })).data ?? {}).toEqual({});
  });

  it('takes a field away with null, and leaves the others', async () => {
    const { client } = target;
    const made = await client.create(KINDS.secrets, secret({ one: '1', two: '2' }));
    const patched = await client.patch(KINDS.secrets, made.metadata, { data: { one: null } });
    expect(Object.keys(patched.data ?? {})).toEqual(['two']);
  });

  it('lists by labels, in several pages', async () => {
    const { client, namespace } = target;
    const label = randomHex(8);
    const made = Array.from({ length: 1203 }, () => secret({}, { batch: label }));
    for (let at = 0; at < made.length; at += 16) {
      await Promise.all(made.slice(at, at + 16).map((one) => client.create(KINDS.secrets, one)));
    }
    const { items, resourceVersion } = await client.list(KINDS.secrets, { namespace, labels: `batch=${label}` });
    expect(new Set(items.map(({ metadata }) => metadata.name)).size).toBe(made.length);
    expect(resourceVersion).toMatch(/^\d+$/);
    expect(
      (await client.list(KINDS.secrets, { namespace, labels: `batch in (${label},x),batch!=x` })).items,
    ).toHaveLength(made.length);
    const [one] = made;
    const named = { namespace, fields: `metadata.name=${one?.metadata.name}` };
    expect((await client.list(KINDS.secrets, named)).items.map(({ metadata }) => metadata.labels)).toEqual([
      { batch: label },
    ]);
  });

  it('says what happens after a listing, in its order', async () => {
    const { client, namespace } = target;
    const label = randomHex(8);
    const where = { namespace, labels: `batch=${label}` };
    const { resourceVersion } = await client.list(KINDS.secrets, where);
    const made = await client.create(KINDS.secrets, secret({}, { batch: label }));
    await client.patch(KINDS.secrets, made.metadata, { metadata: { annotations: { now: 'changed' } } });
    await client.delete(KINDS.secrets, made.metadata);
    const seen: string[] = [];
    for await (const event of client.watch(KINDS.secrets, where, resourceVersion, { signal: NEVER })) {
      if (event.kind === 'bookmark') continue;
      seen.push(`${event.kind} ${event.object.metadata.annotations?.['now'] ?? ''}`);
      if (event.kind === 'gone') break;
    }
    expect(seen).toEqual(['put ', 'put changed', 'gone changed']);
  });

  it('has all objects at all times, also what was there before', async () => {
    const { client, namespace } = target;
    const label = randomHex(8);
    const before = await client.create(KINDS.secrets, secret({}, { batch: label }));
    const changes: string[] = [];
    const following = follow({
      client,
      kind: KINDS.secrets,
      where: { namespace, labels: `batch=${label}` },
      onChange: ({ now, before: was }) =>
        changes.push(`${was === null ? 'new' : 'known'} ${now === null ? 'gone' : 'there'}`),
      onError: () => {},
    });
    await following.synced;
    expect([...following.objects.keys()]).toEqual([keyOf(before)]);
    const next = await client.create(KINDS.secrets, secret({}, { batch: label }));
    await client.create(KINDS.secrets, secret({}, { batch: 'another' }));
    await client.delete(KINDS.secrets, before.metadata);
    await expect.poll(() => [...following.objects.keys()]).toEqual([keyOf(next)]);
    expect(changes).toEqual(['new there', 'new there', 'known gone']);
    await following.close();
  });

  it('makes, scales and removes what owns other objects', async () => {
    const { client, namespace } = target;
    const labels = { app: `shop-${randomHex(6)}` };
    const deployment: Deployment = {
      metadata: { name: labels.app, namespace, labels },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'registry.invalid/shop:1' }] } },
      },
    };
    const made = await client.apply(KINDS.deployments, deployment);
    const scaled = await client.apply(KINDS.deployments, { ...deployment, spec: { ...deployment.spec, replicas: 2 } });
    expect(scaled.spec.replicas).toBe(2);
    expect(scaled.metadata.generation).toBe((made.metadata.generation ?? 0) + 1);
    expect(await client.delete(KINDS.deployments, deployment.metadata, { propagation: 'Foreground' })).toBe(true);
    await expect.poll(() => client.get(KINDS.deployments, deployment.metadata)).toBeNull();
  });
}

describe('the Kubernetes client, at a small server', () => clientCases(smallServer));

if (REAL === '') {
  it('the Kubernetes client, at a real API server', ({ skip }) => skip('TANCHO_TEST_KUBERNETES names no kubeconfig'));
} else {
  describe('the Kubernetes client, at a real API server', () => clientCases(realServer));
}

describe('the Kubernetes client, when the server is in trouble', () => {
  let server: ApiServer;
  let client: KubernetesClient;
  beforeEach(async () => {
    server = new ApiServer();
    await server.start();
    client = new KubernetesClient(server.access());
  });
  afterEach(async () => {
    client.close();
    await server.close();
  });
  const secret = (name: string): Secret => ({ metadata: { name, namespace: 'test' } });

  it('asks again after 429 and 5xx, but creates nothing twice', async () => {
    server.faults.push({ status: 429, retryAfter: '0' }, { status: 503 }, { status: 500 });
    expect((await client.list(KINDS.secrets)).items).toEqual([]);
    expect(server.requests).toHaveLength(4);
    server.faults.push({ status: 429, retryAfter: '0' });
    await client.create(KINDS.secrets, secret('one'));
    server.faults.push({ status: 503 });
    await expect(client.create(KINDS.secrets, secret('two'))).rejects.toMatchObject({ status: 503 });
    expect(server.store.all('secrets')).toHaveLength(1);
  });

  it('does not ask again what is refused', async () => {
    server.faults.push({ status: 403 });
    await expect(client.list(KINDS.secrets)).rejects.toMatchObject({ status: 403, reason: 'Asked' });
    expect(server.requests).toHaveLength(1);
  });

  it('says that it is unreachable, and stops when it is not wanted any more', async () => {
    const stop = new AbortController();
    await server.close();
    const listed = client.list(KINDS.secrets, {}, { signal: stop.signal }).then(
      () => 'listed',
      () => 'gave up',
    );
    stop.abort();
    expect(await listed).toBe('gave up');
    server = new ApiServer();
    await server.start();
  });

  it('goes on after a watch where it has ended, without listing again, and misses nothing', async () => {
    const errors: unknown[] = [];
    const following = follow({
      client,
      kind: KINDS.secrets,
      where: {},
      onChange: () => {},
      onError: (error) => errors.push(error),
    });
    await following.synced;
    for (let round = 0; round < 20; round++) {
      await expect.poll(() => server.watchCount).toBe(1);
      server.store.create('secrets', secret(`before-${round}`));
      if (round % 2 === 0) server.cutWatches();
      else server.endWatches();
      server.store.create('secrets', secret(`meanwhile-${round}`));
      await expect.poll(() => following.objects.size).toBe(2 * (round + 1));
    }
    expect(server.requests.filter((one) => !one.includes('watch=true'))).toHaveLength(1);
    expect(errors.length).toBeGreaterThan(0);
    await following.close();
  });

  it('says once why a server is not followed, however often it is asked, and anew after it was', async () => {
    const errors: string[] = [];
    const onError = (error: unknown): void => void errors.push((error as Error).message);
    server.faults.push({ status: 403 }, { status: 403 });
    const following = follow({ client, kind: KINDS.secrets, where: {}, onChange: () => {}, onError });
    await following.synced;
    expect(errors).toHaveLength(1);
    await expect.poll(() => server.watchCount).toBe(1);
    server.cutWatches();
    await expect.poll(() => errors.length).toBe(2);
    await following.close();
  });

  it('goes on from the last bookmark', async () => {
    const following = follow({ client, kind: KINDS.pods, where: {}, onChange: () => {}, onError: () => {} });
    await following.synced;
    await expect.poll(() => server.watchCount).toBe(1);
    server.store.create('secrets', secret('another-kind'));
    server.bookmark();
    server.endWatches();
    await expect.poll(() => server.requests.filter((one) => one.includes('watch=true')).length).toBe(2);
    expect(server.requests.at(-1)).toContain(`resourceVersion=${server.store.version}`);
    await following.close();
  });

  it('lists anew when the server has forgotten what came since, and says what has changed meanwhile', async () => {
    const changes: string[] = [];
    const name = (object: Secret | null): string => object?.metadata.name ?? '-';
    server.store.create('secrets', secret('stays'));
    server.store.create('secrets', secret('goes'));
    const following = follow({
      client,
      kind: KINDS.secrets,
      where: {},
      onChange: ({ now, before }) => changes.push(`${name(before)} ${name(now)}`),
      onError: () => {},
    });
    await following.synced;
    await expect.poll(() => server.watchCount).toBe(1);
    server.isSilent = true;
    server.store.delete('secrets', { name: 'goes', namespace: 'test' }, { propagation: 'Background' });
    server.store.create('secrets', secret('comes'));
    server.store.forgetHistory();
    server.isSilent = false;
    server.cutWatches();
    await expect.poll(() => changes).toEqual(['- goes', '- stays', 'goes -', '- comes']);
    await following.close();
  });

  it('leaves a watch that says nothing any more', async () => {
    const errors: Error[] = [];
    const following = follow({
      client,
      kind: KINDS.secrets,
      where: {},
      onChange: () => {},
      onError: (error) => errors.push(error as Error),
      stallMs: 200,
    });
    await following.synced;
    await expect.poll(() => server.watchCount).toBe(1);
    server.isSilent = true;
    server.store.create('secrets', secret('unseen'));
    await expect.poll(() => errors.map(({ message }) => message).join()).toContain('has said nothing for 200 ms');
    server.isSilent = false;
    await expect.poll(() => following.objects.size).toBe(1);
    await following.close();
  });
});
