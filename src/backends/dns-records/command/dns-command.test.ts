import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
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

it('says how it ended and what it printed', async () => {
  const failing = await program(`console.log('the zone'); console.error('is locked'); process.exitCode = 3;`);
  await expect(createDnsCommand({ argv: [process.execPath, failing] }).set('a', 'b', signal)).rejects.toThrow(
    /^it ended with 3: (?=.*the zone)(?=.*is locked)/,
  );
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
