/** A million rows of the audit log, verified offline against an old checkpoint. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { signCheckpoint, verifierKey } from '../../src/lib/transparency-log/checkpoint.ts';
import { appendLeaf, rootOf } from '../../src/lib/transparency-log/tree.ts';
import { leafOf } from '../../src/lib/transparency-log/verify.ts';
import { builtProgram } from '../../test/support/built.ts';
import { type Bench, type Measure, timed } from '../bench.ts';

const run = promisify(execFile);
const ROWS = 1_000_000;
const KEPT_AT = ROWS / 2;
const AT_ONCE = 10_000;
const ROUNDS = 3;
const ORIGIN = 'tancho/audit/bench';

export const audit: Measure = {
  name: 'audit',
  about: 'a million rows of the audit log verified offline',
  longMs: 300_000,
  run: measureAudit,
};

async function measureAudit(bench: Bench): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tancho-audit-bench-'));
  bench.keep({ dispose: () => rm(folder, { recursive: true, force: true }) });
  const [log, kept] = [path.join(folder, 'log.ndjson'), path.join(folder, 'kept')];
  bench.note(`writing ${ROWS} rows`);
  await writeFile(kept, await writeLog(log));
  const main = path.join(await builtProgram(), 'main.js');
  const floor = { what: 'reading the file and hashing it', samples: [] as number[] };
  const samples: number[] = [];
  await bench.rounds(ROUNDS, async () => {
    floor.samples.push(await timed(() => hashed(log)));
    samples.push(
      await timed(async () => {
        const args = [main, 'event', 'verify', log, '--checkpoint', kept];
        const { stdout } = await run(process.execPath, args, {
          env: { HOME: folder, PATH: process.env['PATH'] ?? '' },
        });
        if (!stdout.includes(`All ${ROWS} rows are as they were recorded`)) throw new Error(stdout);
      }),
    );
  });
  bench.publish({ what: `${ROWS} rows verified`, unit: 'ms', samples, floor, most: 15_000 });
}

/** As `tancho event export` writes it; answers a checkpoint of half of it. */
async function writeLog(file: string): Promise<string> {
  const key = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { format: 'pem', type: 'pkcs8' },
    publicKeyEncoding: { format: 'pem', type: 'spki' },
  }).privateKey;
  const output = await open(file, 'w');
  const frontier: Buffer[] = [];
  const signed = (size: number): string => signCheckpoint({ origin: ORIGIN, size, root: rootOf(frontier) }, key);
  let kept = '';
  try {
    for (let at = 0; at < ROWS; at += AT_ONCE) {
      const lines = Array.from({ length: AT_ONCE }, (_, n) => rowLine(frontier, at + n));
      await output.write(`${lines.join('\n')}\n`);
      if (at + AT_ONCE === KEPT_AT) kept = signed(KEPT_AT);
    }
    const head = { key: verifierKey(ORIGIN, key), checkpoint: signed(ROWS) };
    await output.write(`${JSON.stringify({ head })}\n`);
  } finally {
    await output.close();
  }
  return kept;
}

function rowLine(frontier: Buffer[], index: number): string {
  const salt = createHash('sha256').update(`${index}`).digest('hex').slice(0, 32);
  const at = new Date(1_770_000_000_000 + index * 1_000).toISOString();
  const who = { actor: `person${index % 40}@example.com`, token: 'api-key abcdef0123456789', address: '192.0.2.7' };
  const what = { action: 'env.set', target: `app:shop-${index % 200}`, detail: 'GREETING', error: '', deploy: '' };
  const changes = [{ field: 'env.GREETING', before: `${index}`, after: `${index + 1}` }];
  const content = JSON.stringify({ phase: 'whole', id: salt.slice(0, 24), at, endedAt: at, ...who, ...what, changes });
  const leaf = leafOf(salt, content);
  appendLeaf(frontier, index, leaf);
  return JSON.stringify({ row: { index, leaf: leaf.toString('base64'), salt, content } });
}

async function hashed(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(file)) hash.update(piece as Buffer);
  return hash.digest('hex');
}
