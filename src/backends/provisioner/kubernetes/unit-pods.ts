/** Which pod runs which unit, and when a unit has died. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../../lib/logger.ts';
import type { KubernetesClient } from '../../../kubernetes/client.ts';
import { KINDS } from '../../../kubernetes/kinds.ts';
import { isStatus } from '../../../kubernetes/kubernetes-error.ts';
import type { Deployment, Pod } from '../../../kubernetes/objects.ts';
import type { Comeback, UnitExited } from '../../../domain/units/provisioner.ts';
import { Unreached } from '../../../domain/errors.ts';
import { atMost, inTime } from '../../../lib/deadline.ts';
import type { GroupName, Groups } from './groups.ts';
import { ANNOTATIONS, LABELS, ownSelector } from './labels.ts';
import { NamespaceView } from './namespace-view.ts';
import { PodAssignment } from './pod-assignment.ts';
import { isOver, isUnreachable, lastEndOf, lifeOf } from './pod-state.ts';
import { UnheardUnits } from './unheard-units.ts';
import { type BookedUnit, bookOf, type UnitEnd } from './unit-book.ts';

const REACHED_MS = 20_000;
/** A start waits no longer for the list of what is there, from when that was begun: of thousands of pods it takes as long as all else together. */
const LISTED_MS = 1_000;
/** And the list is held up no longer by a start that goes on without it. */
const HELD_MS = 10_000;
const UNKNOWN_END: UnitEnd = { code: null, signal: null, outOfMemory: false };
const LOST = { ...UNKNOWN_END, isLost: true } as const;
const NOTHING: Pick<Deployment, 'metadata'> = { metadata: { name: '' } };
/** Until it is asked again about a unit that no group has. */
const UNFOLLOWED_MS = 100;
/** Ends of one unit that are reported one by one. */
const MAX_REPORTED = 20;

interface UnitPodsOptions {
  readonly client: KubernetesClient;
  readonly groups: Groups;
  readonly installation: string;
  readonly logger: Logger;
  readonly onExit: (exited: UnitExited) => void;
  /** How long the cluster is waited for. */
  readonly reachedMs?: number;
  /** And by a start. */
  readonly listedMs?: number;
}

export class UnitPods {
  readonly #options: UnitPodsOptions;
  readonly #views = new Map<string, NamespaceView>();
  readonly #groups = new Map<string, GroupName>();
  /** Name of the pod that a unit had when its Deployment was last looked at. */
  readonly #pods = new Map<string, string>();
  /** Units that are being ended by whoever looks after them. */
  readonly #ending = new Set<string>();
  readonly #unheard = new UnheardUnits();
  /** Pods whose loss was reported. */
  readonly #lost = new Set<string>();
  readonly #assignment: PodAssignment;
  /** As it was when it went, by unit, for who asks afterwards. */
  readonly #lastSeen = new Map<string, Pod>();
  /** By uid of the pod. */
  readonly #reported = new Map<string, number>();
  /** Whose deaths are reported; of the others it is not known yet who asks. */
  readonly #known = new Set<string>();
  /** While a start goes on without the list, which is to be over first. */
  #held: Promise<void> | null = null;
  #goOn = (): void => {};

  constructor(options: UnitPodsOptions) {
    this.#options = options;
    const isGone = (id: string, pod: string): boolean => this.#lastSeen.get(id)?.metadata.name === pod;
    this.#assignment = new PodAssignment({ ...options, isGone });
  }

  /** Listing what is there takes a while where that is much, so a start begins it long before it needs it. */
  begin(namespace: string): void {
    this.#opened(namespace);
  }

  /** Resolves when everything that is there is known. Throws PlatformError `unavailable` when that takes too long; it is tried on. */
  async view(namespace: string): Promise<NamespaceView> {
    const view = this.#opened(namespace);
    this.#goOn();
    const { client, reachedMs = REACHED_MS } = this.#options;
    await inTime(reachedMs, view.synced, () => unreached(client.description));
    return view;
  }

  /** As view(), but neither a cluster that is not reached is waited for, nor one that has much to list. */
  async look(namespace: string): Promise<void> {
    const view = this.#opened(namespace);
    await atMost(this.#listedMs(view), view.tried);
  }

  /** Whether everything that is there is known, which is waited for as long as a start may take. If not, listing goes on when somebody asks for what there is. */
  async isListed(namespace: string): Promise<boolean> {
    const view = this.#opened(namespace);
    if (!view.isSynced) await atMost(this.#listedMs(view), view.synced);
    if (!view.isSynced) this.#hold();
    return view.isSynced;
  }

  #hold(): void {
    if (this.#held !== null) return;
    const held = Promise.withResolvers<void>();
    const timer = setTimeout(() => this.#goOn(), HELD_MS);
    this.#held = held.promise;
    this.#goOn = () => {
      clearTimeout(timer);
      this.#held = null;
      held.resolve();
    };
  }

  /** Resolves when everything is known of all namespaces that are followed now. */
  async listed(): Promise<void> {
    this.#goOn();
    await this.known();
  }

  /** The same, without being in a hurry. */
  async known(): Promise<void> {
    await Promise.all([...this.#views.values()].map(({ synced }) => synced));
  }

  #listedMs({ ageMs }: NamespaceView): number {
    return Math.max(0, (this.#options.listedMs ?? LISTED_MS) - ageMs);
  }

  /** Why nobody knows what the unit does now; null: somebody does. */
  troubleOf(id: string): string | null {
    return this.viewOf(id)?.trouble ?? null;
  }

  /** Those whose deaths are reported. */
  adopted(): ReadonlySet<string> {
    return this.#known;
  }

  #opened(namespace: string): NamespaceView {
    const known = this.#views.get(namespace);
    const { client, installation, logger } = this.#options;
    const view =
      known ??
      new NamespaceView({
        client,
        namespace,
        selector: ownSelector(installation),
        onPod: ({ now, before }) => this.#podChanged(namespace, now, before),
        onDeployment: ({ now, before }) => this.#groupChanged(namespace, now, before),
        onError: (error) => logger.warn({ err: error, namespace }, 'following Kubernetes was interrupted'),
        turn: () => this.#held ?? undefined,
      });
    this.#views.set(namespace, view);
    if (known === undefined)
      void view.synced.then(() => view.deployments().forEach(({ metadata }) => this.#assign(namespace, metadata.name)));
    return view;
  }

  groupOf(id: string): GroupName | null {
    return this.#groups.get(id) ?? null;
  }

  /** Empty where that is not known. */
  appOf(id: string): string {
    const { metadata } = this.viewOf(id)?.deployment(this.groupOf(id)?.name ?? '') ?? NOTHING;
    return metadata.labels?.[LABELS.app] ?? '';
  }

  viewOf(id: string): NamespaceView | null {
    return this.#views.get(this.#groups.get(id)?.namespace ?? '') ?? null;
  }

  /** Resolves with the next change of what the unit is part of, and when the signal fires; soon where nothing is followed, for who asks again is to hold up nobody. */
  async changed(id: string, signal: AbortSignal): Promise<void> {
    const group = this.#groups.get(id);
    const view = this.viewOf(id);
    if (view === null) return delay(UNFOLLOWED_MS, undefined, { signal }).catch(() => undefined);
    await view.changed(group?.name ?? '', signal);
  }

  /** The one that runs it now; null: none yet, or none any more. */
  podOf(id: string): Pod | null {
    const name = this.bookOf(id)?.pod ?? '';
    return name === '' ? null : (this.viewOf(id)?.pod(name) ?? null);
  }

  lastPodOf(id: string): Pod | null {
    return this.podOf(id) ?? this.#lastSeen.get(id) ?? null;
  }

  /** As its Deployment has it; undefined: it is not in it. */
  bookOf(id: string): BookedUnit | undefined {
    const group = this.#groups.get(id);
    const deployment = group === undefined ? null : (this.viewOf(id)?.deployment(group.name) ?? null);
    return deployment === null ? undefined : bookOf(deployment).get(id);
  }

  deployments(): Deployment[] {
    return [...this.#views.values()].flatMap((view) => view.deployments());
  }

  /** Its deaths are reported from now on. */
  adopt(id: string, group: GroupName): void {
    this.#known.add(id);
    this.#ending.delete(id);
    this.#groups.set(id, group);
  }

  /** Whoever waited for it has seen it serve. */
  serves(id: string): void {
    const [pod, group] = [this.podOf(id), this.#groups.get(id)];
    if (pod === null || group === undefined) return;
    this.#unheard.serves(pod);
    this.#reportUnreachable(group);
  }

  /** All that requests are led to. */
  routed(units: ReadonlySet<string>): void {
    for (const group of this.#unheard.routed(units)) this.#reportUnreachable(group);
  }

  /** Its next death is no loss. */
  end(id: string): void {
    this.#ending.add(id);
  }

  forget(id: string): void {
    this.#ending.delete(id);
    this.#known.delete(id);
    this.#groups.delete(id);
    this.#lost.delete(this.#pods.get(id) ?? '');
    this.#pods.delete(id);
    this.#lastSeen.delete(id);
  }

  /** What has died while nobody listened, to be called once all is known: reported as exits where it does not run, else returned. */
  catchUp(id: string): Comeback | null {
    const [pod, group] = [this.podOf(id), this.#groups.get(id)];
    if (pod === null) return null;
    if (group !== undefined) this.#reportUnreachable(group);
    const life = lifeOf(pod);
    const unreported = life.deaths - this.#reportedOf(pod);
    if (unreported <= 0) return null;
    if (!life.isRunning) {
      this.#reportDeaths(id, pod);
      return null;
    }
    this.#note(pod, life.deaths);
    const at = life.lastEnd?.at ?? new Date().toISOString();
    const last = { ...(life.lastEnd ?? lastEndOf(pod)), at: new Date(at).toISOString() };
    const unseen = Array.from({ length: Math.min(unreported, MAX_REPORTED) - 1 }, () => ({
      code: null,
      signal: null,
      outOfMemory: false,
      at: last.at,
    }));
    return { id, exits: [...unseen, last], address: null };
  }

  async close(): Promise<void> {
    this.#goOn();
    this.#assignment.close();
    await Promise.all([...this.#views.values()].map((view) => view.close()));
  }

  #assign(namespace: string, group: string): void {
    const view = this.#views.get(namespace);
    if (view !== undefined) this.#assignment.assign(view, group);
  }

  #groupChanged(namespace: string, now: Deployment | null, before: Deployment | null): void {
    const group = now ?? before;
    if (group === null) return;
    const { name } = group.metadata;
    for (const [id, { pod }] of bookOf(group)) {
      if (!this.#groups.has(id)) this.#groups.set(id, { namespace, name });
      const had = this.#pods.get(id) ?? '';
      this.#pods.set(id, pod);
      if (had !== pod && had !== '') {
        if (pod !== '') this.#reportLost(id, had);
        if ((this.#views.get(namespace)?.pod(had) ?? null) === null) this.#lost.delete(had);
      }
      // What came before the book said whose it is.
      const seen = this.#views.get(namespace)?.pod(pod) ?? null;
      if (had !== pod && seen !== null) this.#judge(id, seen);
    }
    this.#forgetLeft({ namespace, name }, before, now);
    if (now !== null) this.#assign(namespace, name);
  }

  /** Those of others, which have removed them: who has a unit forgets it when it has removed it. */
  #forgetLeft(group: GroupName, before: Deployment | null, now: Deployment | null): void {
    const left = bookOf(now ?? NOTHING);
    for (const id of bookOf(before ?? NOTHING).keys()) {
      const known = this.#groups.get(id);
      const isHere = known?.name === group.name && known.namespace === group.namespace;
      if (isHere && !left.has(id) && !this.#known.has(id)) this.forget(id);
    }
  }

  #podChanged(namespace: string, now: Pod | null, before: Pod | null): void {
    const pod = now ?? before;
    if (pod === null) return;
    this.#assignment.seen(pod.metadata.name);
    if (now === null) this.#unheard.serveNoMore(pod.metadata.name);
    const group = this.#views.get(namespace)?.deployment(pod.metadata.labels?.[LABELS.group] ?? '') ?? null;
    if (group === null) return;
    const found = [...bookOf(group)].find(([, unit]) => unit.pod === pod.metadata.name);
    if (found !== undefined) {
      const [id] = found;
      if (now === null) this.#lastSeen.set(id, pod);
      if (now !== null) this.#judge(id, now);
      if (now === null) this.#reportLost(id, pod.metadata.name);
    } else if (now === null) this.#lost.delete(pod.metadata.name);
    if (now === null) this.#reported.delete(pod.metadata.uid ?? '');
    this.#assign(namespace, group.metadata.name);
  }

  #reportedOf({ metadata: { uid = '', annotations } }: Pod): number {
    return Math.max(this.#reported.get(uid) ?? 0, Number(annotations?.[ANNOTATIONS.reported] ?? 0));
  }

  #judge(id: string, pod: Pod): void {
    // What has died before all is known may have come back long ago, see catchUp().
    if (this.#known.has(id) && this.viewOf(id)?.isSynced === true) this.#reportDeaths(id, pod);
    const group = this.#groups.get(id);
    if (group !== undefined) this.#reportUnreachable(group);
  }

  #reportUnreachable({ namespace, name }: GroupName): void {
    const view = this.#views.get(namespace);
    const pods = [...bookOf(view?.deployment(name) ?? NOTHING)].flatMap(([id, unit]) => {
      const pod = unit.end === null ? (view?.pod(unit.pod) ?? null) : null;
      return pod === null || isOver(pod) ? [] : [{ id, pod }];
    });
    for (const { pod } of pods) if (!isUnreachable(pod)) this.#lost.delete(pod.metadata.name);
    for (const { id, pod } of this.#unheard.lost({ namespace, name }, pods)) {
      if (!this.#known.has(id) || this.#lost.has(pod.metadata.name)) continue;
      this.#lost.add(pod.metadata.name);
      this.#options.onExit({ id, ...LOST });
    }
  }

  #reportDeaths(id: string, pod: Pod): void {
    const { deaths, lastEnd } = lifeOf(pod);
    const reported = this.#reportedOf(pod);
    if (deaths <= reported) return;
    this.#note(pod, deaths);
    for (let missed = reported + 1; missed < Math.min(deaths, reported + MAX_REPORTED); missed++) {
      this.#options.onExit({ id, ...UNKNOWN_END });
    }
    const { at: _at, ...end } = lastEnd ?? { at: '', ...UNKNOWN_END };
    this.#report(id, end, isOver(pod) && !end.outOfMemory);
  }

  /** Its pod is gone, or goes and another one has taken its place. */
  #reportLost(id: string, name: string): void {
    const pod = this.viewOf(id)?.pod(name) ?? this.#lastSeen.get(id) ?? null;
    if (!this.#known.has(id) || this.#lost.has(name)) return;
    this.#lost.add(name);
    if (pod !== null && pod.metadata.name === name) {
      const { deaths, isRunning } = lifeOf(pod);
      if (!isRunning && deaths > 0 && deaths <= this.#reportedOf(pod)) return;
      const isLost = isRunning || isOver(pod) || deaths === 0;
      if (!isRunning || isOver(pod)) return this.#report(id, lastEndOf(pod), isLost);
    }
    this.#report(id, UNKNOWN_END, true);
  }

  #report(id: string, end: UnitEnd, isLost: boolean): void {
    const isAsked = this.#ending.delete(id);
    this.#unheard.serveNoMore(this.podOf(id)?.metadata.name ?? '');
    this.#options.onExit({ id, ...end, ...(isLost && !isAsked && { isLost: true }) });
  }

  /** It serves elsewhere than it is looked for, which whoever looks for it has missed. */
  reportMoved(id: string): void {
    if (this.#known.has(id)) this.#options.onExit({ id, ...LOST });
  }

  /** So that no later control reports it again. */
  #note({ metadata: { name, namespace = '', uid = '' } }: Pod, deaths: number): void {
    this.#reported.set(uid, deaths);
    const patch = { metadata: { annotations: { [ANNOTATIONS.reported]: String(deaths) } } };
    this.#options.client.patch(KINDS.pods, { name, namespace }, patch).catch((error: unknown) => {
      if (!isStatus(error, 404))
        this.#options.logger.warn({ err: error, pod: name }, 'the end of a unit could not be noted');
    });
  }
}

function unreached(description: string): Unreached {
  return new Unreached('unavailable', `Kubernetes is not reached (${description}).`, {
    hint: 'Ask an operator whether the API server of the cluster answers; what runs there goes on meanwhile.',
  });
}
