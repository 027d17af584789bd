/** A process that writes is killed at any moment: no line that was acknowledged as stored is lost, none is there twice. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { builtProgram } from '../../../../test/support/built.ts';
import { SLOW } from '../../../../test/support/slow.ts';
import { SILENT } from '../../../lib/logger.ts';
import { createSqlLogStore } from './index.ts';

const KILLS = SLOW ? 5 : 2;
const ENOUGH = 30;
/** The first to ask compiles the program. */
const COMPILE_MS = 150_000;

let built = '';
beforeAll(async () => {
  built = await builtProgram();
}, COMPILE_MS);

test(`loses and doubles no line in ${KILLS} kills`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tancho-kill-logs-'));
  const file = join(folder, 'logs.db');
  try {
    const script = join(folder, 'writer.mjs');
    await writeFile(script, writer(file));
    for (let kill = 1; kill <= KILLS; kill++) {
      const reported = await writeUntilKilled(script, ENOUGH + Math.floor(Math.random() * ENOUGH));
      const store = await createSqlLogStore({ kind: 'sqlite', file }, { logger: SILENT });
      try {
        const offset = Number(await store.cursor('aaaaaaaaaaaa'));
        expect(offset).toBeGreaterThanOrEqual(reported);
        const lines = (await store.query({ app: 'shop', lines: 0 })).map(({ message }) => Number(message));
        expect(lines).toEqual(Array.from({ length: offset }, (_, number) => number));
      } finally {
        await store.close();
      }
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** Numbers the lines from the stored cursor on, as the collector would after a restart; prints it once stored. */
function writer(file: string): string {
  const module = (name: string) => JSON.stringify(pathToFileURL(join(built, name)).href);
  return `
    import { writeSync } from 'node:fs';
    import { createSqlLogStore } from ${module('backends/log-store/sql/index.js')};
    import { SILENT } from ${module('lib/logger.js')};
    const store = await createSqlLogStore({ kind: 'sqlite', file: ${JSON.stringify(file)} }, { logger: SILENT });
    const unitId = 'aaaaaaaaaaaa';
    for (let offset = Number(await store.cursor(unitId)); ; ) {
      const entries = Array.from({ length: 7 }, (_, number) => ({ seq: 0, at: '', app: 'shop', source: 'web',
        unit: 'shop/0', unitId, release: 1, message: String(offset + number) }));
      offset += entries.length;
      await store.append(entries, { unitId, cursor: String(offset) });
      writeSync(1, offset + '\\n');
    }`;
}

/** Answers the last offset that was printed. */
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
