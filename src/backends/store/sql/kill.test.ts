/** A process that writes is killed at any moment: what was acknowledged as stored must be there, whole. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { builtProgram } from '../../../../test/support/built.ts';
import { SLOW } from '../../../../test/support/slow.ts';
import { SILENT } from '../../../lib/logger.ts';
import { openSealer } from '../../../lib/seal.ts';
import { createSqlStore } from './index.ts';

const KILLS = SLOW ? 5 : 2;
const ENOUGH = 60;
/** The first to ask compiles the program. */
const COMPILE_MS = 150_000;

let built = '';
beforeAll(async () => {
  built = await builtProgram();
}, COMPILE_MS);

test(`loses no acknowledged transaction in ${KILLS} kills`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tancho-kill-'));
  try {
    const script = join(folder, 'writer.mjs');
    await writeFile(script, writer(folder));
    let reported = 0;
    for (let kill = 1; kill <= KILLS; kill++) {
      const acknowledged = await writeUntilKilled(script, ENOUGH + Math.floor(Math.random() * ENOUGH));
      expect(acknowledged).toBeGreaterThan(reported);
      reported = acknowledged;
      const sealer = await openSealer(join(folder, 'secret.key'));
      const store = await createSqlStore(
        { kind: 'sqlite', file: join(folder, 'tancho.db') },
        { sealer, logger: SILENT },
      );
      try {
        const stored = Number(await store.setting('count'));
        // The last transaction may be stored without having been acknowledged.
        expect(stored - reported).toBeGreaterThanOrEqual(0);
        expect(stored - reported).toBeLessThanOrEqual(1);
        expect(await store.events(stored + 10)).toHaveLength(stored);
        reported = stored;
      } finally {
        await store.close();
      }
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** Each transaction counts up and adds one event; the count is printed once it is stored. */
function writer(folder: string): string {
  const module = (name: string) => JSON.stringify(pathToFileURL(join(built, name)).href);
  return `
    import { writeSync } from 'node:fs';
    import { createSqlStore } from ${module('backends/store/sql/index.js')};
    import { openSealer } from ${module('lib/seal.js')};
    import { SILENT } from ${module('lib/logger.js')};
    const sealer = await openSealer(${JSON.stringify(join(folder, 'secret.key'))});
    const store = await createSqlStore(
      { kind: 'sqlite', file: ${JSON.stringify(join(folder, 'tancho.db'))} }, { sealer, logger: SILENT });
    for (;;) {
      const count = await store.transact(async (tx) => {
        const next = Number(await tx.setting('count') ?? 0) + 1;
        await tx.insertEvent({ id: String(next), at: '', endedAt: '', isRefusal: false, actor: '', address: '', action: '', target: '',
          detail: 'x'.repeat(2000), error: '' });
        await tx.setSetting('count', String(next));
        return next;
      });
      writeSync(1, count + '\\n');
    }`;
}

/** Answers the last count that was printed. */
async function writeUntilKilled(script: string, lines: number): Promise<number> {
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    if (printed.split('\n').length > lines) child.kill('SIGKILL');
  });
  await new Promise((resolve) => child.once('close', resolve));
  expect(child.signalCode).toBe('SIGKILL');
  return Number(printed.slice(0, printed.lastIndexOf('\n')).split('\n').at(-1));
}
