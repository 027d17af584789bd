/** Controls as processes: one that is killed, or stopped for longer than its lease, is followed, and writes nothing when it goes on. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSqlStore } from '../../src/backends/store/sql/index.ts';
import { Controls } from '../../src/domain/controls/controls.ts';
import type { Store } from '../../src/domain/store.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { openSealer } from '../../src/lib/seal.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { NO_POSTGRES, skipFor } from '../support/skips.ts';
import { until } from '../support/until.ts';

const ENOUGH = 20;
const PROGRAM = fileURLToPath(new URL('../support/control-process.ts', import.meta.url));

const available = await createTestDatabase();
afterAll(() => available?.dispose());

describe('a control beside others', skipFor(available === null && NO_POSTGRES), () => {
  let folder: string;
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let store: Store;
  let other: Controls;
  let followed: { control: string; afterMs: number }[];
  let gone: number;
  let child: ChildProcess;
  let lines: string[];

  beforeEach(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'tancho-controls-'));
    const keyFile = join(folder, 'secret.key');
    const deps = { sealer: await openSealer(keyFile), logger: SILENT };
    store = await createSqlStore({ kind: 'postgres', url: database?.url ?? '' }, deps);
    followed = [];
    const takeOver = async (control: string): Promise<void> => {
      followed.push({ control, afterMs: Math.round(performance.now() - gone) });
    };
    const nothing = { onDuty: async () => {}, onLost: () => {} };
    other = new Controls({ store, owner: 'other', takeOver, ...nothing, logger: SILENT });
    other.start();
    lines = [];
    const args = [PROGRAM, database?.url ?? '', keyFile, 'first'];
    child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (child.stdout !== null) createInterface(child.stdout).on('line', (line) => lines.push(line));
    await until(() => lines.length >= ENOUGH, { what: 'the first control to write' });
  });
  afterEach(async () => {
    child.kill('SIGKILL');
    await other.close();
    await store.close();
    await rm(folder, { recursive: true });
    await database?.dispose();
  });

  async function end(signal: 'SIGKILL' | 'SIGSTOP'): Promise<void> {
    gone = performance.now();
    child.kill(signal);
    await until(() => followed.length > 0, { what: 'the other control to go on' });
    console.log(`followed ${followed[0]?.afterMs} ms after ${signal} (asked: 10,000)`);
    expect(followed.map(({ control }) => control)).toEqual(['first']);
  }

  it('is left alone while it lives', async () => {
    const begun = lines.length;
    await until(() => lines.length >= begun + 1_000, { what: 'the first control to go on writing' });
    expect(followed).toEqual([]);
    expect(lines).not.toContain('lost');
  });

  it('that is killed is followed, and its app is free', async () => {
    await end('SIGKILL');
    expect(await store.lease('app:shop', 'other', 60_000)).not.toBeNull();
  });

  it('that is stopped for longer than its lease writes nothing when it goes on', async () => {
    await end('SIGSTOP');
    await store.transact((tx) => tx.setSetting('written', 'other'));
    child.kill('SIGCONT');
    await until(() => lines.some((line) => line === 'unavailable' || line === 'app.busy'), { what: 'the refusal' });
    expect(await store.setting('written')).toBe('other');
    expect(followed).toHaveLength(1);
  });
});
