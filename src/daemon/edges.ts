/** Edges on other machines: the router that they are part of, and who is asked to wait for them. */
import { EdgeRecords } from '../domain/edges/edge-records.ts';
import { EDGE_TTL_MS, EdgeStreams } from '../domain/edges/edge-streams.ts';
import { createEdgeTokens } from '../domain/edges/edge-tokens.ts';
import { createEdges, type Edges } from '../domain/edges/edges.ts';
import { EdgesRouter } from '../domain/edges/edges-router.ts';
import type { Act } from '../domain/act.ts';
import type { News } from '../domain/controls/news.ts';
import { Peers } from '../domain/controls/peers.ts';
import type { Router } from '../domain/routes/router.ts';
import type { Routes } from '../domain/routes/routes.ts';
import type { Store } from '../domain/store.ts';
import type { Logger } from '../lib/logger.ts';

interface EdgePartsDeps {
  readonly store: Store;
  /** The edge of this machine. */
  readonly own: Router;
  readonly news: News;
  /** Name of this server. */
  readonly owner: string;
  readonly isAlone: boolean;
  readonly logger: Logger;
  readonly now: () => Date;
}

interface EdgeParts {
  readonly router: EdgesRouter;
  readonly peers: Peers;
  /** To be called once, before anybody can come. */
  serve(routes: Pick<Routes, 'refresh'>, act: Act): Edges;
  /** Edges go to another server. */
  close(): Promise<void>;
}

export function createEdgeParts({ store, own, news, owner, isAlone, logger, now }: EdgePartsDeps): EdgeParts {
  const onRefused = (edge: string, error: unknown): void => {
    logger.warn({ err: error, edge }, 'an edge elsewhere does not do what it is asked');
  };
  const router = new EdgesRouter({ own, leaseMs: EDGE_TTL_MS, onRefused });
  const records = new EdgeRecords({ store, server: owner, now });
  let refresh = (): Promise<void> => Promise.reject(new Error('nothing is routed yet'));
  const streams = new EdgeStreams({ store, records, router, refresh: () => refresh(), logger });
  return {
    router,
    peers: new Peers({ store, news, owner: isAlone ? null : owner, edges: streams, logger }),
    serve(routes, act) {
      refresh = () => routes.refresh();
      return createEdges({ store, tokens: createEdgeTokens({ store, act, now }), records, streams });
    },
    close: () => streams.close(),
  };
}
