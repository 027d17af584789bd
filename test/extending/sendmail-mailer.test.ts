import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { mailerConformance } from '../../src/backends/mailer/conformance.ts';
import { createSendmailMailer } from './sendmail-mailer.ts';

/** A mail system that keeps each letter as a file, named in the order in which they come. */
const PROGRAM = `#!/bin/sh
cd "$(dirname "$0")/letters" && cat > "$(ls | wc -l | tr -d ' ').eml"
`;

async function mailSystem() {
  const folder = await mkdtemp(join(tmpdir(), 'tancho-sendmail-'));
  const letters = join(folder, 'letters');
  const program = join(folder, 'sendmail');
  await mkdir(letters);
  await writeFile(program, PROGRAM);
  await chmod(program, 0o700);
  return {
    mailer: createSendmailMailer({ program, from: 'tancho@example.com' }),
    received: async () =>
      Promise.all((await readdir(letters)).sort().map((name) => readFile(join(letters, name), 'utf8'))),
    dispose: () => rm(folder, { recursive: true }),
  };
}

mailerConformance('sendmail', mailSystem);

it('a program that is not there is reported', async () => {
  const mailer = createSendmailMailer({ program: '/nowhere/sendmail', from: 'tancho@example.com' });
  const sending = mailer.send({ to: 'ann@example.com', subject: 's', text: 'secret\n' });
  await expect(sending).rejects.toMatchObject({
    code: 'unavailable',
    hint: expect.stringContaining('/nowhere/sendmail'),
  });
});
