/** Ten million stored lines: what they take, and how long answers from among them take, over the API. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { join } from 'node:path';
import { createSqlLogStore } from '../../src/backends/log-store/sql/index.ts';
import { SILENT } from '../../src/lib/logger.ts';
import type { World } from '../../test/support/world.ts';
import { type Bench, timed } from '../bench.ts';
import { createApp } from '../thousand-apps.ts';
import { cpuMs } from '../process-use.ts';
import { quantile } from '../statistics.ts';
import { LARGE_APP, LINES, PATTERN, RARE, SMALL_APPS, smallApp, writeMuch } from './much-stored.ts';

const TAILS = 400;
const SEARCHES = 5;
const QUICK_MS = 300;
const GIGABYTE_MS = 3_000;
const FIRST_HITS = 10;
const ROOM = { TANCHO_LOGS_BYTES_PER_APP: '4G', TANCHO_LOGS_BYTES: '8G' };

export async function measureReading(bench: Bench): Promise<void> {
  const world = await bench.world({ env: ROOM });
  const token = await world.login();
  const apps = [LARGE_APP, ...Array.from({ length: SMALL_APPS }, (_, index) => smallApp(index))];
  for (const app of apps) await createApp(world, token, app);
  await world.end('SIGTERM');
  const file = join(world.home, 'logs.db');
  const store = await createSqlLogStore({ kind: 'sqlite', file }, { logger: SILENT });
  bench.note(`writing ${LINES} lines`);
  const begun = process.cpuUsage();
  const bytes = await writeMuch(store).finally(() => store.close());
  const { user, system } = process.cpuUsage(begun);
  bench.publish({ what: 'storing 1,000 lines', unit: 'ms', samples: [(user + system) / 1_000 / (LINES / 1_000)] });
  const { size } = await stat(file);
  bench.publish({ what: 'disk of what the lines have', unit: '%', samples: [(size / bytes) * 100], most: 35 });
  await world.startAgain();
  await measureAnswers(bench, new Reader(world, token), apps);
}

async function measureAnswers(bench: Bench, reader: Reader, apps: readonly string[]): Promise<void> {
  await reader.log(LARGE_APP, 'lines=100');
  const before = await reader.memoryMb();
  const tails: number[] = [];
  for (let index = 0; index < TAILS; index++) {
    const app = apps[(index * 37) % apps.length] ?? LARGE_APP;
    tails.push(await timed(() => reader.log(app, 'lines=100')));
  }
  bench.publish({ what: 'last 100 lines of an app', unit: 'ms', samples: tails });
  bench.publish({ what: 'last 100 lines of an app, p99', unit: 'ms', samples: [quantile(tails, 0.99)], most: 10 });
  const searched = async (what: string, query: string, hits: number, most: number): Promise<void> => {
    const samples: number[] = [];
    const used: number[] = [];
    await bench.rounds(SEARCHES, async () => {
      const usedBefore = await reader.cpuMs();
      let found = 0;
      samples.push(await timed(async () => (found = (await reader.all(query)).length)));
      used.push((await reader.cpuMs()) - usedBefore);
      if (found !== hits) throw new Error(`${what}: ${found} lines were found, not ${hits}`);
    });
    bench.publish({ what, unit: 'ms', samples, most });
    bench.publish({ what: `${what}: processor time`, unit: 'ms', samples: used });
  };
  await searched('a rare word in 1 GB', `lines=100&search=${RARE.word}`, RARE.times, QUICK_MS);
  const pattern = `search=${encodeURIComponent(PATTERN.text)}&regexp=1`;
  await searched(
    `regular expression, first ${FIRST_HITS} lines`,
    `lines=${FIRST_HITS}&${pattern}`,
    FIRST_HITS,
    QUICK_MS,
  );
  const all = await reader.all(`lines=1000&${pattern}`);
  await searched('regular expression over 1 GB', `lines=1000&${pattern}`, all.length, GIGABYTE_MS);
  await searched('text that is nowhere, without help of the filters', `lines=10&${bruteText()}`, 0, GIGABYTE_MS);
  bench.publish({
    what: 'growth of control meanwhile, at its peak',
    unit: 'MB',
    samples: [(await reader.peakMb()) - before],
    most: 50,
  });
}

/** A pattern that every block has to be opened for. */
function bruteText(): string {
  return `search=${encodeURIComponent('took=\\d+ms nowhere$')}&regexp=1`;
}

interface Entry {
  readonly Message: string;
  readonly Source: string;
  readonly Cursor: string;
}

/** One connection that stays. */
class Reader {
  readonly #world: World;
  readonly #token: string;
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

  constructor(world: World, token: string) {
    this.#world = world;
    this.#token = token;
  }

  log(app: string, query: string): Promise<Entry[]> {
    const url = new URL(`/apps/${app}/log?${query}`, this.#world.apiUrl);
    const headers = { authorization: `bearer ${this.#token}` };
    return new Promise((resolve, reject) => {
      http
        .get(url, { agent: this.#agent, headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            if (response.statusCode === 200) resolve(JSON.parse(text) as Entry[]);
            else reject(new Error(`${url.href}: ${response.statusCode} ${text.slice(0, 300)}`));
          });
        })
        .on('error', reject);
    });
  }

  /** Goes on where an answer says that it has stopped. */
  async all(query: string): Promise<Entry[]> {
    const found: Entry[] = [];
    for (let before = ''; ;) {
      const page = await this.log(LARGE_APP, `${query}${before}`);
      found.unshift(...page.filter(({ Source }) => Source === 'web'));
      const mark = page.find(({ Source, Message }) => Source === 'tancho' && Message.includes('before='));
      if (mark === undefined) return found;
      before = `&before=${mark.Cursor}`;
    }
  }

  cpuMs(): Promise<number> {
    return cpuMs(this.#world.pid);
  }

  /** From now on the peak is counted. */
  async memoryMb(): Promise<number> {
    await writeFile(`/proc/${this.#world.pid}/clear_refs`, '5');
    return this.#status('VmRSS');
  }

  peakMb(): Promise<number> {
    return this.#status('VmHWM');
  }

  async #status(name: string): Promise<number> {
    const text = await readFile(`/proc/${this.#world.pid}/status`, 'utf8');
    return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1024;
  }
}
