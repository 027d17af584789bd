/**
 * What is asked of the Kubernetes API: the verbs, over the few kinds of kinds.ts. Everything throws KubernetesError, and AccessProblem
 * where there is no login. See follow.ts for objects that are to be known at all times.
 */
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { atMost } from '../lib/deadline.ts';
import { isRecord } from '../lib/is-record.ts';
import { Turns } from '../lib/turns.ts';
import type { ClusterAccess } from './access.ts';
import { type ChannelOptions, openChannel, type RemoteProcess } from './channel.ts';
import { isAway, isStatus, KubernetesError } from './kubernetes-error.ts';
import { type Kind, KINDS, pathOf } from './kinds.ts';
import { type LogOptions, type ContainerLog, containerLog } from './logs.ts';
import type { KubernetesObject } from './objects.ts';
import { type PodStats, readPodStats } from './pod-stats.ts';
import { type ApiRequest, Transport } from './transport.ts';
import { watchObjects, type WatchEvent, type WatchOptions } from './watch.ts';

/** Of so many little is left behind in memory once they have been read. */
const PAGE = 100;
/** So many logs are opened at once: whoever begins to follow thousands of them has other questions, too. */
const OPENINGS = 32;
/** One whose node does not answer, or that has no line yet, keeps the next from going on no longer. */
const OPENING_MS = 50;
/** And this long one that the server was not reached for, so few ask it while it is away or starts, and all follow at full pace when it is back. */
const AWAY_MS = 1_000;
/** Whose fields they are that are applied. */
const FIELD_MANAGER = 'tancho';

interface Named {
  readonly namespace?: string;
  readonly name: string;
}

export interface Where {
  /** Absent: in all. */
  readonly namespace?: string;
  /** As the API writes it: `app=shop,tier!=cache`. */
  readonly labels?: string;
  readonly fields?: string;
}

interface Listing<T> {
  readonly items: readonly T[];
  /** From which a watch goes on. */
  readonly resourceVersion: string;
}

interface ListOptions<T> {
  readonly signal?: AbortSignal;
  /** What is kept of each, page by page; absent: all of it. */
  readonly kept?: (object: T) => T;
  /** Waited for before a page is read and the next one is asked for. */
  readonly turn?: () => Promise<void> | undefined;
}

interface DeleteOptions {
  /** What becomes of what it owns. Absent: `Background`. */
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
  readonly graceSeconds?: number;
  /** Only if it is this one still, and only as it was. */
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export class KubernetesClient {
  readonly description: string;
  readonly namespace: string;
  readonly #transport: Transport;
  readonly #openings = new Turns(OPENINGS);

  constructor(access: ClusterAccess) {
    this.description = access.description;
    this.namespace = access.namespace;
    this.#transport = new Transport(access);
  }

  /** Such as `v1.36.3`. */
  async version(): Promise<string> {
    const answer: unknown = JSON.parse(await this.#transport.ask({ method: 'GET', path: '/version' }));
    const version = isRecord(answer) ? answer['gitVersion'] : null;
    return typeof version === 'string' ? version : 'unknown';
  }

  /** Null where it is not there. */
  async get<T extends KubernetesObject>(kind: Kind<T>, what: Named): Promise<T | null> {
    try {
      return await this.#object(kind, { method: 'GET', path: objectPath(kind, what) });
    } catch (error) {
      if (isStatus(error, 404)) return null;
      throw error;
    }
  }

  /** All of them, read in pages. */
  async list<T extends KubernetesObject>(
    kind: Kind<T>,
    where: Where = {},
    { signal, kept, turn }: ListOptions<T> = {},
  ): Promise<Listing<T>> {
    const ask = (from?: string): Promise<string> =>
      this.#transport.ask({
        method: 'GET',
        path: pathOf(kind, where.namespace ?? null),
        query: { ...selectors(where), limit: String(PAGE), continue: from },
        ...(signal !== undefined && { signal }),
      });
    const items: T[] = [];
    for (let asked = ask(); ;) {
      const text = await asked;
      await turn?.();
      const page = readList<T>(text);
      // The server makes the next one while this one is taken apart.
      if (page.next !== '') {
        asked = ask(page.next);
        // It is waited for a moment later, unless that one cannot be read.
        asked.catch(() => undefined);
      }
      items.push(...(kept === undefined ? page.items : page.items.map(kept)));
      if (page.next === '') return { items, resourceVersion: page.resourceVersion };
    }
  }

  /** Throws `AlreadyExists` (409). */
  async create<T extends KubernetesObject>(kind: Kind<T>, object: T): Promise<T> {
    const path = pathOf(kind, object.metadata.namespace ?? null);
    return this.#object(kind, { method: 'POST', path, body: whole(kind, object) });
  }

  /** In place of what was there when its resourceVersion was; throws `Conflict` (409) when it is another one now. */
  async replace<T extends KubernetesObject>(kind: Kind<T>, object: T): Promise<T> {
    return this.#object(kind, { method: 'PUT', path: objectPath(kind, object.metadata), body: whole(kind, object) });
  }

  /**
   * Makes it so, whatever is there: what was applied before and is not in it any more goes, what others have set stays. With a
   * resourceVersion only where that is its version still, else `Conflict` (409).
   */
  async apply<T extends KubernetesObject>(kind: Kind<T>, object: T): Promise<T> {
    return this.#object(kind, {
      method: 'PATCH',
      path: objectPath(kind, object.metadata),
      query: { fieldManager: FIELD_MANAGER, force: 'true' },
      contentType: 'application/apply-patch+yaml',
      body: whole(kind, object),
    });
  }

  /** Changes what the patch names; null takes a field away. With metadata.resourceVersion in it as apply(). */
  async patch<T extends KubernetesObject>(kind: Kind<T>, what: Named, patch: object): Promise<T> {
    return this.#object(kind, {
      method: 'PATCH',
      path: objectPath(kind, what),
      query: { fieldManager: FIELD_MANAGER },
      contentType: 'application/merge-patch+json',
      body: patch,
    });
  }

  /** False: it was not there. It may go on being there until what holds it has let go. */
  async delete<T extends KubernetesObject>(kind: Kind<T>, what: Named, options: DeleteOptions = {}): Promise<boolean> {
    const { propagation = 'Background', graceSeconds, uid, resourceVersion } = options;
    try {
      await this.#transport.ask({
        method: 'DELETE',
        path: objectPath(kind, what),
        body: {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          propagationPolicy: propagation,
          ...(graceSeconds !== undefined && { gracePeriodSeconds: graceSeconds }),
          preconditions: {
            ...(uid !== undefined && { uid }),
            ...(resourceVersion !== undefined && { resourceVersion }),
          },
        },
      });
      return true;
    } catch (error) {
      if (isStatus(error, 404)) return false;
      throw error;
    }
  }

  /**
   * What happens after a resourceVersion, until the server ends it, which it does every few minutes; bookmarks say how far it is
   * when nothing happens. Throws `Expired` (410): list again; and when nothing came for longer than bookmarks take.
   */
  watch<T extends KubernetesObject>(
    kind: Kind<T>,
    where: Where,
    from: string,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>> {
    const request = {
      path: pathOf(kind, where.namespace ?? null),
      query: { ...selectors(where), resourceVersion: from },
    };
    return watchObjects<T>(this.#transport, request, options);
  }

  /** Lines of a container's output with the time stamps of the node that it runs on. */
  log(pod: Named, options: LogOptions, signal: AbortSignal): ContainerLog {
    const open = (request: ApiRequest): Promise<Readable> =>
      options.isOneOfMany === true ? this.#openInTurn(request, signal) : this.#transport.streamOfMany(request);
    return containerLog(open, objectPath(KINDS.pods, pod), options, signal);
  }

  /** Who has waited longest goes first. Nobody gives up his turn before there is a connection. */
  async #openInTurn(request: ApiRequest, signal: AbortSignal): Promise<Readable> {
    const { opening } = await this.#openings.run(async () => {
      const sent = Promise.withResolvers<void>();
      const begun = this.#transport.streamOfMany(request, sent.resolve);
      try {
        await Promise.race([sent.promise, begun]);
        await atMost(OPENING_MS, begun);
      } catch (error) {
        if (isAway(error)) await delay(AWAY_MS, undefined, { signal }).catch(() => undefined);
      }
      return { opening: begun };
    }, signal);
    return opening;
  }

  /** What the kubelet of a node measures of its pods, by their uid; it takes the right to `nodes/proxy`. */
  async podStats(node: string, signal: AbortSignal): Promise<ReadonlyMap<string, PodStats>> {
    const path = `/api/v1/nodes/${encodeURIComponent(node)}/proxy/stats/summary`;
    const query = { only_cpu_and_memory: 'true' };
    return readPodStats(await this.#transport.ask({ method: 'GET', path, query, signal, isRepeated: false }));
  }

  /** Runs a program in a container that runs, or joins its first one. */
  exec(pod: Named, options: ChannelOptions): Promise<RemoteProcess> {
    return openChannel(this.#transport, objectPath(KINDS.pods, pod), options);
  }

  /** Ends all that is under way. */
  close(): void {
    this.#transport.close();
  }

  async #object<T extends KubernetesObject>(kind: Kind<T>, request: Parameters<Transport['ask']>[0]): Promise<T> {
    const parsed: unknown = JSON.parse(await this.#transport.ask(request));
    if (isObject<T>(parsed)) return parsed;
    throw new KubernetesError(0, 'Malformed', `Kubernetes has answered something that is no ${kind.kind}.`);
  }
}

function objectPath(kind: Kind<KubernetesObject>, { namespace, name }: Named): string {
  return `${pathOf(kind, namespace ?? null)}/${encodeURIComponent(name)}`;
}

function selectors({ labels, fields }: Where): Record<string, string | undefined> {
  return { labelSelector: labels, fieldSelector: fields };
}

function whole<T extends KubernetesObject>({ apiVersion, kind }: Kind<T>, object: T): T {
  return { ...object, apiVersion, kind };
}

/** By what is common to all; the rest is as the server's own schema has it. */
function isObject<T extends KubernetesObject>(value: unknown): value is T {
  return isRecord(value) && isRecord(value['metadata']) && typeof value['metadata']['name'] === 'string';
}

function readList<T extends KubernetesObject>(text: string): Listing<T> & { readonly next: string } {
  const parsed: unknown = JSON.parse(text);
  const { items, metadata } = isRecord(parsed) ? parsed : { items: null, metadata: null };
  if (!isRecord(metadata) || (items !== null && !Array.isArray(items))) {
    throw new KubernetesError(0, 'Malformed', 'Kubernetes has answered something that is no list.');
  }
  const { resourceVersion, continue: next } = metadata;
  return {
    items: (items ?? []).filter((one: unknown) => isObject<T>(one)),
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    next: typeof next === 'string' ? next : '',
  };
}
