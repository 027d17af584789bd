/** Homes for edges of the built program, and what they route to, for tests. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtProgram } from '../../../../test/support/built.ts';
import type { Route, RouteTable } from '../../../domain/routes/router.ts';
import { SILENT } from '../../../lib/logger.ts';
import { keepProgram, readProgram } from '../../../lib/program-files.ts';
import type { EdgeRouterOptions } from './edge-options.ts';
import { type AdoptingRouter, createEdgeRouter } from './edge-router.ts';

interface Home {
  readonly options: EdgeRouterOptions;
  readonly remove: () => Promise<void>;
}

export async function edgeHome(overrides: Partial<EdgeRouterOptions> = {}): Promise<Home> {
  const root = await mkdtemp(join(tmpdir(), 'edge-'));
  const options = {
    stateDir: join(root, 'state'),
    runDir: join(root, 'run'),
    listen: { host: '127.0.0.1', port: 0 },
    workers: 1,
    programDir: await builtProgram(),
    logger: SILENT,
    stopGraceMs: 1_000,
    ...overrides,
  };
  return { options, remove: () => rm(root, { recursive: true, force: true }) };
}

/** One test's homes, routers and units; all of them end with dispose(). */
export class EdgeWorld {
  readonly #undo: (() => Promise<unknown>)[] = [];
  #version = 0;

  async home(overrides?: Partial<EdgeRouterOptions>): Promise<EdgeRouterOptions> {
    const made = await edgeHome(overrides);
    this.undo(made.remove);
    return made.options;
  }

  async start(options: EdgeRouterOptions): Promise<AdoptingRouter> {
    const router = await createEdgeRouter(options);
    this.undo(() => router.stop());
    return router;
  }

  /** A program of its own: what an edge is made of, copied. */
  async program(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'edge-program-'));
    this.undo(() => rm(folder, { recursive: true, force: true }));
    const built = await builtProgram();
    return keepProgram(await readProgram(built, [join(built, 'edge', 'main.js')]), folder);
  }

  async pid(options: EdgeRouterOptions): Promise<number> {
    return Number(await readFile(join(options.runDir, 'edge.pid'), 'utf8'));
  }

  /** A table that routes blog.test to a new unit that answers with its name, or as `listener` does. */
  async unit(name: string, listener?: RequestListener): Promise<RouteTable & { readonly server: Server }> {
    const server = createServer(listener ?? ((_request, response) => response.end(name)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.undo(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    const { port } = server.address() as AddressInfo;
    const targets = [{ unit: name, host: '127.0.0.1', port }];
    const route: Route = { app: 'blog', hosts: ['blog.test'], targets, note: '', https: 'redirect' };
    return { version: ++this.#version, routes: [route], server };
  }

  /** Steps run in reverse order. */
  undo(step: () => Promise<unknown>): void {
    this.#undo.push(step);
  }

  async dispose(): Promise<void> {
    for (const step of this.#undo.splice(0).reverse()) await step();
  }
}
