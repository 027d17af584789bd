/** What pods, and the addresses behind Services, become over a time, and what the pods say then: to find out why a request failed. */
import type { KubernetesClient } from '../../src/kubernetes/client.ts';
import { follow, keyOf } from '../../src/kubernetes/follow.ts';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import type { EndpointSlice, Pod } from '../../src/kubernetes/objects.ts';

const MOST_LINES = 2_000;

export interface Timeline {
  /** The newest lines, each with its time, in order. */
  text(): string;
  close(): Promise<void>;
}

export async function startTimeline(client: KubernetesClient, namespace: string): Promise<Timeline> {
  const lines: string[] = [];
  const reading = new AbortController();
  const read = new Set<string>();
  const note = (text: string): void => {
    lines.push(`${new Date().toISOString()} ${text}`);
    if (lines.length > MOST_LINES) lines.shift();
  };
  const readLog = async ({ metadata, spec }: Pod): Promise<void> => {
    if (read.has(metadata.name)) return;
    read.add(metadata.name);
    const options = { container: spec.containers[0]?.name ?? '', follow: true };
    for await (const part of client.log(metadata, options, reading.signal))
      for (const { text } of part) note(`${metadata.name} says: ${text}`);
  };
  const onError = (error: unknown): void => note(`the cluster is not reached: ${String(error)}`);
  const pods = follow({
    ...{ client, kind: KINDS.pods, where: { namespace }, onError },
    onChange({ now, before }) {
      const [was, is] = [before, now].map((pod) => (pod === null ? 'none' : stateOf(pod)));
      if (is !== was) note(`pod ${keyOf((now ?? before) as Pod)}: ${is}`);
      if (now?.status?.phase === 'Running')
        void readLog(now).catch((error: unknown) => note(`log of ${now.metadata.name}: ${String(error)}`));
    },
  });
  const slices = follow({
    ...{ client, kind: KINDS.endpointSlices, where: { namespace }, onError },
    onChange({ now, before }) {
      const [was, is] = [before, now].map((slice) => (slice === null ? 'none' : addressesOf(slice)));
      const { labels } = ((now ?? before) as EndpointSlice).metadata;
      if (is !== was) note(`service ${labels?.['kubernetes.io/service-name']}: ${is}`);
    },
  });
  await Promise.all([pods.synced, slices.synced]);
  return {
    text: () => lines.join('\n'),
    async close() {
      reading.abort();
      await Promise.all([pods.close(), slices.close()]);
    },
  };
}

function stateOf({ metadata, status }: Pod): string {
  const conditions = (status?.conditions ?? []).filter((one) => one.status === 'True').map(({ type }) => type);
  const ending = metadata.deletionTimestamp === undefined ? '' : `, ending (by ${metadata.deletionTimestamp})`;
  return `${status?.phase} ${status?.podIP ?? ''} ${conditions.join()}${ending}`;
}

function addressesOf({ endpoints }: EndpointSlice): string {
  return (endpoints ?? [])
    .map(({ addresses, conditions }) => `${addresses.join()}${conditions?.ready === false ? ' (not ready)' : ''}`)
    .join(', ');
}
