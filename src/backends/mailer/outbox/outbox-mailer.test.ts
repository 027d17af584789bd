import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SILENT } from '../../../lib/logger.ts';
import { mailerConformance } from '../conformance.ts';
import { createOutboxMailer, type OutboxOptions } from './outbox-mailer.ts';

/** Its clock goes on by a second with every look at it. */
async function outbox(more: Partial<OutboxOptions> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'tancho-outbox-'));
  const directory = join(folder, 'mail');
  let time = Date.parse('2024-05-06T07:08:09Z');
  const now = (): Date => new Date((time += 1_000));
  const mailer = createOutboxMailer({ directory, from: 'tancho@example.com', now, logger: SILENT, ...more });
  const names = async (): Promise<string[]> => (await readdir(directory)).sort();
  return {
    mailer,
    directory,
    folder,
    names,
    received: async () => Promise.all((await names()).map((name) => readFile(join(directory, name), 'utf8'))),
    dispose: () => rm(folder, { recursive: true }),
  };
}

mailerConformance('outbox', outbox);

const letter = { to: 'ann@example.com', subject: 's', text: 'secret\n' };

describe('the outbox', () => {
  it('is for its owner only', async () => {
    const { mailer, directory, names, dispose } = await outbox();
    await mailer.send(letter);
    const [name = ''] = await names();
    expect(name).toMatch(/^20240506T070810000Z-[0-9a-f]{16}\.eml$/);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600);
    await dispose();
  });

  it('keeps the newest letters, and leaves other files alone', async () => {
    const { mailer, directory, names, received, dispose } = await outbox({ kept: 2 });
    await mailer.send(letter);
    await writeFile(join(directory, 'a-note'), 'of the operator');
    for (const text of ['one\n', 'two\n']) await mailer.send({ ...letter, text });
    expect(await names()).toHaveLength(3);
    expect((await received()).filter((text) => text.includes('secret'))).toEqual([]);
    await dispose();
  });

  it('that cannot be written is unavailable, and what was written is in no message', async () => {
    const { mailer, directory, dispose } = await outbox();
    await writeFile(directory, 'a file where the folder is to be');
    const error = await mailer.send(letter).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(String(error)).not.toContain('secret');
    await dispose();
  });
});
