import { execFile } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { NOT_ROOT, skipFor } from '../../../../test/support/skips.ts';
import { until } from '../../../../test/support/until.ts';
import { isAlive, readProcess } from '../../../lib/processes.ts';
import { createDnsCommand } from './dns-command.ts';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'tancho-dns-'));
});
afterAll(() => rm(directory, { recursive: true }));

const program = async (text: string): Promise<string> => {
  const file = path.join(directory, `${text.length}.mjs`);
  await writeFile(file, text);
  return file;
};
const { signal } = new AbortController();

it('is given what to set and what to remove, as words of its own', async () => {
  const file = path.join(directory, 'seen.json');
  const source = `import { appendFileSync } from 'node:fs'; appendFileSync(${JSON.stringify(file)}, JSON.stringify(process.argv.slice(2)) + '\\n');`;
  const dns = createDnsCommand({ argv: [process.execPath, await program(source), '--zone', 'a zone'] });
  await dns.set('_acme-challenge.example.com', '$(id); x', signal);
  await dns.remove('_acme-challenge.example.com', '$(id); x', signal);
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
    ['set', 'remove'].map((what) => ['--zone', 'a zone', what, '_acme-challenge.example.com', '$(id); x']),
  );
});

it('says how it ended; what it printed is the cause, for the log of the server alone', async () => {
  const failing = await program(`console.log('the zone'); console.error('token=s3cret'); process.exitCode = 3;`);
  const failed = createDnsCommand({ argv: [process.execPath, failing] }).set('a', 'b', signal);
  const error = await failed.catch((thrown: unknown) => thrown as Error);
  expect(error).toMatchObject({
    message: 'it ended with 3',
    cause: { message: expect.stringMatching(/(?=.*the zone)(?=.*token=s3cret)/) as string },
  });
  await expect(createDnsCommand({ argv: [path.join(directory, 'none')] }).set('a', 'b', signal)).rejects.toThrow(
    'it cannot be started',
  );
});

it('is ended when it takes too long', async () => {
  const hanging = await program(`setInterval(() => {}, 1000);`);
  await expect(
    createDnsCommand({ argv: [process.execPath, hanging], timeoutMs: 300 }).set('a', 'b', signal),
  ).rejects.toThrow('it did not end in time');
});

it('is not started where nobody wants it any more', async () => {
  let started = 0;
  const count = (): void => {
    started += 1;
  };
  subscribe('child_process', count);
  try {
    const set = createDnsCommand({ argv: [process.execPath, '-v'] }).set('a', 'b', AbortSignal.abort());
    await expect(set).rejects.toThrow();
    expect(started).toBe(0);
  } finally {
    unsubscribe('child_process', count);
  }
});

it('is ended with what it has started', async () => {
  const file = path.join(directory, 'waiting.pid');
  const waiting = await program(`
    import { spawn } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    child.once('spawn', () => writeFileSync(${JSON.stringify(file)}, String(child.pid)));
  `);
  const stop = new AbortController();
  const set = createDnsCommand({ argv: [process.execPath, waiting] }).set('a', 'b', stop.signal);
  let pid = 0;
  const isStarted = async (): Promise<boolean> => (pid = Number(await readFile(file, 'utf8').catch(() => ''))) > 0;
  await until(isStarted, { what: 'the program' });
  const { start } = readProcess(pid) ?? { start: '' };
  expect(isAlive(pid, start)).toBe(true);
  stop.abort();
  await expect(set).rejects.toThrow('it did not end in time');
  await until(() => !isAlive(pid, start), { what: 'the end of what it has started' });
});

it(
  'that runs as somebody else and cannot be ended ends nobody who waits for it, nor keeps him',
  skipFor(NOT_ROOT),
  async () => {
    const file = path.join(directory, 'other.pid');
    const hanging = await program(`
    import { renameSync, writeFileSync } from 'node:fs';
    writeFileSync(${JSON.stringify(`${file}.new`)}, String(process.pid));
    renameSync(${JSON.stringify(`${file}.new`)}, ${JSON.stringify(file)});
    setInterval(() => {}, 1000);
  `);
    const server = `
    import { existsSync } from 'node:fs';
    import { createDnsCommand } from ${JSON.stringify(new URL('./dns-command.ts', import.meta.url).href)};
    const stop = new AbortController();
    const dns = createDnsCommand({ argv: [process.execPath, ${JSON.stringify(hanging)}] });
    const set = dns.set('a', 'b', stop.signal).catch((error) => console.log(error.message));
    while (!existsSync(${JSON.stringify(file)})) await new Promise((resolve) => setTimeout(resolve, 20));
    process.setuid(65_534);
    stop.abort();
    await set;
  `;
    try {
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', server]);
      expect(stdout).toBe('it did not end in time\n');
    } finally {
      process.kill(Number(await readFile(file, 'utf8')), 'SIGKILL');
    }
  },
);
