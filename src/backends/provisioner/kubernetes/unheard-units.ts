/**
 * Whether units whose nodes say nothing are lost. As far as is known they serve nobody, but it may be the cluster that hears nothing:
 * one that has requests makes way only for one that has them, too, for without it nobody might serve.
 */
import type { Pod } from '../../../kubernetes/objects.ts';
import type { GroupName } from './groups.ts';
import { isUnreachable, lifeOf } from './pod-state.ts';

interface UnitPod {
  readonly id: string;
  readonly pod: Pod;
}

export class UnheardUnits {
  /** Pods that were seen to serve. */
  readonly #serving = new Set<string>();
  /** Units that requests are led to; null: nobody has said so yet. */
  #routed: ReadonlySet<string> | null = null;
  /** Groups of which some are not heard of, and stay. */
  readonly #waiting = new Map<string, GroupName>();

  /** Whoever waited for it has seen it serve. */
  serves({ metadata: { name } }: Pod): void {
    this.#serving.add(name);
  }

  serveNoMore(pod: string): void {
    this.#serving.delete(pod);
  }

  /** Answers the groups that are to be looked at once more. */
  routed(units: ReadonlySet<string>): GroupName[] {
    this.#routed = units;
    return [...this.#waiting.values()];
  }

  /** `units`: those of a group that are to run and have a pod. */
  lost(group: GroupName, units: readonly UnitPod[]): UnitPod[] {
    const key = `${group.namespace}/${group.name}`;
    const unheard = units.filter(({ pod }) => isUnreachable(pod));
    const lost = unheard.filter((unit) => this.#hasSuccessor(unit, units));
    if (lost.length < unheard.length) this.#waiting.set(key, group);
    else this.#waiting.delete(key);
    return lost;
  }

  #hasSuccessor({ id }: UnitPod, units: readonly UnitPod[]): boolean {
    const routed = this.#routed;
    if (routed === null) return false;
    // One that has no requests yet is not missed.
    const mayFollow = (other: UnitPod): boolean =>
      routed.has(other.id) || (!routed.has(id) && this.#serving.has(other.pod.metadata.name));
    return units.some((other) => lifeOf(other.pod).isRunning && !isUnreachable(other.pod) && mayFollow(other));
  }
}
