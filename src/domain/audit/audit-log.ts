/**
 * Makes a log of the audit trail that nobody can change unnoticed: its rows are the leaves of a hash tree, whose root is signed. Events are put into it
 * soon after they are committed, by one worker, so no action waits for another because of it.
 */
import { generateKeyPairSync } from 'node:crypto';
import { randomHex } from '../../lib/ids.ts';
import type { Logger } from '../../lib/logger.ts';
import { signCheckpoint } from '../../lib/transparency-log/checkpoint.ts';
import { appendLeaf, isFrontierOf, rootOf } from '../../lib/transparency-log/tree.ts';
import { leafOf } from '../../lib/transparency-log/verify.ts';
import type { Store, StoreWriter } from '../store.ts';
import { contentOf, type LogKey, type NewLogRow, type Unlogged } from './log-rows.ts';

interface AuditLogDeps {
  readonly store: Pick<Store, 'transact' | 'auditKey'>;
  readonly logger: Logger;
  /** After what is committed, so that events that come together are signed together. */
  readonly gatherMs?: number;
}

const GATHER_MS = 1_000;
const AT_ONCE = 500;
const SALT_DIGITS = 32;

export class AuditLog {
  readonly #deps: AuditLogDeps;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> = Promise.resolve();
  #isStarted = false;
  #isClosed = false;

  constructor(deps: AuditLogDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#isStarted = true;
    this.wake();
  }

  /** There are new events; any number of calls make one round. */
  wake(): void {
    if (!this.#isStarted || this.#isClosed || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.sequence().catch((error: unknown) => {
        this.#deps.logger.error({ err: error }, 'events could not be put into the audit log, trying again');
        this.wake();
      });
    }, this.#deps.gatherMs ?? GATHER_MS);
    this.#timer.unref();
  }

  /** Resolves when all events that are committed are in the log. */
  sequence(): Promise<void> {
    this.#running = this.#running.catch(() => undefined).then(() => this.#sequence());
    return this.#running;
  }

  /** What is not in it yet is put into it by the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running.catch(() => undefined);
  }

  async #sequence(): Promise<void> {
    const { store } = this.#deps;
    const key = (await store.auditKey()) ?? (await this.#makeKey());
    for (;;) {
      const done = await store.transact((tx) => appendSome(tx, key));
      if (done < AT_ONCE) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #makeKey(): Promise<LogKey> {
    const { privateKey } = generateKeyPairSync('ed25519', {
      privateKeyEncoding: { format: 'pem', type: 'pkcs8' },
      publicKeyEncoding: { format: 'pem', type: 'spki' },
    });
    const key = { origin: `tancho/audit/${randomHex(16)}`, privateKey };
    return this.#deps.store.transact(async (tx) => {
      const known = await tx.auditKey();
      if (known === null) await tx.insertAuditKey(key);
      return known ?? key;
    });
  }
}

async function appendSome(tx: StoreWriter, { origin, privateKey }: LogKey): Promise<number> {
  const unlogged = await tx.unloggedEvents(AT_ONCE);
  if (unlogged.length === 0) return 0;
  const head = await tx.auditHead();
  const first = head?.size ?? 0;
  const frontier = (head?.frontier ?? []).map((node) => Buffer.from(node, 'base64'));
  if (!isFrontierOf(frontier, first)) throw new Error('The head of the audit log is damaged.');
  const rows = unlogged.map((one, at) => rowOf(one, first + at));
  for (const { leaf, index } of rows) appendLeaf(frontier, index, Buffer.from(leaf, 'base64'));
  const size = first + rows.length;
  const note = signCheckpoint({ origin, size, root: rootOf(frontier) }, privateKey);
  await tx.appendAuditRows(rows);
  await tx.putAuditHead({ size, note, frontier: frontier.map((node) => node.toString('base64')) });
  return rows.length;
}

function rowOf({ event, phase }: Unlogged, index: number): NewLogRow {
  const salt = randomHex(SALT_DIGITS);
  return { index, event: event.id, phase, salt, leaf: leafOf(salt, contentOf(phase, event)).toString('base64') };
}
