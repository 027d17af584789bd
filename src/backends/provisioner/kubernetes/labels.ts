/** Names, labels and annotations of what this engine has in a cluster. Whatever has not its labels is somebody else's. */
import { createHash } from 'node:crypto';

export const LABELS = {
  app: 'app.kubernetes.io/name',
  process: 'app.kubernetes.io/component',
  managedBy: 'app.kubernetes.io/managed-by',
  /** Which Tancho, where several share a namespace. */
  installation: 'tancho.dev/installation',
  /** The units of one process of a rollout. */
  group: 'tancho.dev/group',
  /** Of a pod: whose it is, once that is settled. */
  unit: 'tancho.dev/unit',
} as const;

export const ANNOTATIONS = {
  /** Of a Deployment: its units, see unit-book.ts. */
  units: 'tancho.dev/units',
  /** Of a pod: how many ends of its container have been reported. */
  reported: 'tancho.dev/told',
  /** Of a pod: the lower, the sooner it goes when there are too many. */
  deletionCost: 'controller.kubernetes.io/pod-deletion-cost',
} as const;

const MANAGER = 'tancho';
const MAX_NAME = 52;

export function ownLabels(installation: string): Record<string, string> {
  return { [LABELS.managedBy]: MANAGER, [LABELS.installation]: installation };
}

export function ownSelector(installation: string): string {
  return Object.entries(ownLabels(installation))
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

/** A DNS label; names that are equal when cut off differ by the hash. */
export function objectName(words: readonly string[], hashed: unknown): string {
  const hash = createHash('sha256').update(JSON.stringify(hashed)).digest('hex').slice(0, 12);
  const readable = words
    .join('-')
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-');
  return `${readable.slice(0, MAX_NAME - hash.length - 1).replace(/^-+|-+$/g, '')}-${hash}`;
}
