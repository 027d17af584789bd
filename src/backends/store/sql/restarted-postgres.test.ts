/** A PostgreSQL that is restarted while it is used: it ends all connections, and takes none for a moment. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../../../test/support/postgres.ts';
import { NO_POSTGRES, skipFor } from '../../../../test/support/skips.ts';
import type { Store } from '../../../domain/store.ts';
import { SILENT } from '../../../lib/logger.ts';
import { openSealer } from '../../../lib/seal.ts';
import { createSqlStore } from './index.ts';

const database = await createTestDatabase();
afterAll(() => database?.dispose());

/** Between the store and the database. */
class Way {
  /** Connections that are refused, from now on. */
  refusals = 0;
  readonly #open = new Set<Socket>();
  readonly #server = createServer((socket) => this.#take(socket));
  readonly #beyond: URL;

  constructor(url: string) {
    this.#beyond = new URL(url);
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const url = new URL(this.#beyond);
    [url.hostname, url.port] = ['127.0.0.1', `${(this.#server.address() as AddressInfo).port}`];
    return url.href;
  }

  cut(refusals: number): void {
    this.refusals = refusals;
    for (const socket of this.#open) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.cut(0);
    this.#server.close();
    await once(this.#server, 'close');
  }

  #take(socket: Socket): void {
    if (this.refusals > 0) {
      this.refusals -= 1;
      socket.on('error', () => {});
      return void socket.resetAndDestroy();
    }
    const beyond = connect(Number(this.#beyond.port || 5432), this.#beyond.hostname);
    const leave = (): void => {
      this.#open.delete(socket);
      for (const one of [socket, beyond]) one.destroy();
    };
    this.#open.add(socket);
    for (const one of [socket, beyond]) one.on('error', leave).on('close', leave);
    socket.pipe(beyond).pipe(socket);
  }
}

describe('a PostgreSQL that is restarted', skipFor(database === null && NO_POSTGRES), () => {
  let way: Way;
  let store: Store;
  let folder = '';
  /** Connections that the pool knows to be lost. */
  let lost = 0;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tancho-restarted-'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    way = new Way(database?.url ?? '');
    const sealer = await openSealer(path.join(folder, 'secret.key'));
    const logger = { ...SILENT, warn: () => void (lost += 1) };
    store = await createSqlStore({ kind: 'postgres', url: await way.start() }, { sealer, logger });
  });
  afterEach(async () => {
    await store.close();
    await way.close();
  });

  it('is waited for, by what is read and what is written', async () => {
    way.cut(3);
    await expect.poll(() => lost).toBeGreaterThan(0);
    await Promise.all([store.setting('count'), store.transact((tx) => tx.setSetting('count', '1'))]);
    expect(await store.setting('count')).toBe('1');
    expect(way.refusals).toBe(0);
  });

  it('has a transaction run again that was lost in the middle', async () => {
    let runs = 0;
    await store.transact(async (tx) => {
      runs += 1;
      await tx.setSetting('half', String(runs));
      if (runs === 1) way.cut(2);
      await tx.setSetting('whole', String(runs));
    });
    expect([await store.setting('half'), await store.setting('whole'), runs]).toEqual(['2', '2', 2]);
  });
});
