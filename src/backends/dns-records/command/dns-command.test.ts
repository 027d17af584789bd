import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
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
