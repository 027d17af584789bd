/** One app prints as fast as it can: that is no work of the event loop that the API has, and the log of others goes on meanwhile. */
import { afterEach, expect, it } from 'vitest';
import { readdir } from 'node:fs/promises';
import { threadCpuMs } from '../../bench/process-use.ts';
import { archive, deployArchive } from '../support/archives.ts';
import { nodeApp } from '../support/git.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';

const LINES = 600_000;
/** Of what all threads of control need for it: the loop still answers who asks meanwhile. */
const MOST_OF_THE_LOOP = 1 / 3;

const PRINTER = `const { writeSync } = require('node:fs');
const print = (text) => { const bytes = Buffer.from(text); for (let done = 0; done < bytes.length;) done += writeSync(1, bytes, done); };
require('node:http').createServer((request, response) => {
  response.end('ok');
  const [, all, word] = request.url.split('/');
  let next = 0;
  const more = () => {
    let text = '';
    for (const end = Math.min(next + 500, Number(all)); next < end; next++) text += word + ' ' + next + ' of some length, as lines of logs have\\n';
    if (text !== '') print(text);
    if (next < Number(all)) setImmediate(more);
  };
  more();
}).listen(process.env.PORT);
`;

let world: World | null = null;
afterEach(async () => {
  await world?.dispose();
  world = null;
});

async function processorMs(pid: number): Promise<{ loop: number; all: number }> {
  const threads = await readdir(`/proc/${pid}/task`);
  const each = await Promise.all(threads.map((thread) => threadCpuMs(pid, Number(thread)).catch(() => 0)));
  return { loop: await threadCpuMs(pid, pid), all: each.reduce((sum, ms) => sum + ms, 0) };
}

it('leaves the event loop to the API, and the log to others', async (context) => {
  if (process.platform !== 'linux') return context.skip('the processor time of threads is reported by Linux only');
  const one = (world = await startWorld({ env: { TANCHO_LOGS_BYTES_PER_APP: '1G' } }));
  const token = await one.login();
  const code = await archive({ ...nodeApp(''), 'server.js': PRINTER });
  for (const app of ['loud', 'calm']) {
    const made = await one.api('POST', '/apps', { token, body: JSON.stringify({ name: app, platform: 'nodejs' }) });
    expect(made.status, made.text).toBe(200);
    expect(await deployArchive(one, token, app, code)).toMatch(/\nOK\n$/);
  }
  const last = async (app: string): Promise<string> =>
    (await one.api('GET', `/apps/${app}/log?lines=1&source=web`, { token })).text;
  const before = await processorMs(one.pid);
  await one.fetchApp('loud', `/${LINES}/loud`);
  await until(async () => (await last('loud')).includes('loud '), { timeoutMs: 60_000, what: 'the first of it' });
  await one.fetchApp('calm', '/10/calm');
  await until(async () => (await last('calm')).includes('calm 9 '), {
    timeoutMs: 60_000,
    what: 'the lines of the other',
  });
  const meanwhile = await last('loud');
  expect(meanwhile, 'it is not over yet').not.toContain(`loud ${LINES - 1} `);
  await until(async () => (await last('loud')).includes(`loud ${LINES - 1} `), {
    timeoutMs: 300_000,
    everyMs: 500,
    what: 'the last line',
    detail: () => one.output().slice(-2_000),
  });
  const after = await processorMs(one.pid);
  const [loop, all] = [after.loop - before.loop, after.all - before.all];
  console.log(`${LINES} lines: the event loop of control ${loop} ms of processor time, all of its threads ${all} ms`);
  expect(loop / all).toBeLessThan(MOST_OF_THE_LOOP);
}, 600_000);
