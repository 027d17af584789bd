/** What a namespace has and what its cluster says of it, for failures that only a look at it explains. */
import type { KubernetesClient } from '../../src/kubernetes/client.ts';
import { KINDS } from '../../src/kubernetes/kinds.ts';

const MOST_EVENTS = 40;

export async function describeNamespace(client: KubernetesClient, namespace: string): Promise<string> {
  const [deployments, pods, occurrences] = await Promise.all([
    client.list(KINDS.deployments, { namespace }),
    client.list(KINDS.pods, { namespace }),
    client.list(KINDS.occurrences, { namespace }),
  ]);
  return [
    ...deployments.items.map(
      ({ metadata: { name, annotations }, spec }) =>
        `deployment ${name} of ${spec.replicas}: ${JSON.stringify(annotations)}`,
    ),
    ...pods.items.map(
      ({ metadata: { name, deletionTimestamp }, spec, status }) =>
        `pod ${name} on ${spec.nodeName ?? 'no node'}, deleted: ${deletionTimestamp ?? 'no'}, ${JSON.stringify(status)}`,
    ),
    ...occurrences.items.slice(-MOST_EVENTS).map((occurrence) => JSON.stringify(occurrence)),
  ].join('\n');
}
