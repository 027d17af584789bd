/** What every mailer must do, whatever carries its letters. Run by each implementation's test file. */
import { afterAll, describe, expect, it } from 'vitest';
import type { Mailer } from '../../domain/users/mailer.ts';

interface MailerUnderTest {
  readonly mailer: Mailer;
  /** The letters that arrived, as they travelled, oldest first. */
  received(): Promise<readonly string[]>;
  dispose(): Promise<void>;
}

/** Raised with every case that is added, so that the suite cannot hollow out unnoticed. */
const CASES = 4;

const TO = 'ann@example.com';

/** `create` answers one without letters each time. */
export function mailerConformance(name: string, create: () => Promise<MailerUnderTest>): void {
  let finished = 0;
  const test = (title: string, run: (under: MailerUnderTest) => Promise<void>): void =>
    it(title, async () => {
      const under = await create();
      try {
        await run(under);
      } finally {
        finished += 1;
        await under.dispose();
      }
    });

  describe(`mailer conformance: ${name}`, () => {
    afterAll(() => expect(finished).toBe(CASES));

    test('delivers the text as it is, whatever its lines look like', async ({ mailer, received }) => {
      const text = 'Gr=C3\n.\n..\n. dot\n\nFrom here\nQUIT\n  password-1\n';
      await mailer.send({ to: TO, subject: 'Your new password', text });
      const [letter = ''] = await received();
      const [head = '', ...body] = letter.split('\r\n\r\n');
      expect(body.join('\r\n\r\n').replaceAll('\r\n', '\n')).toBe(text);
      await mailer.send({ to: TO, subject: 'Grüße', text: 'Grüße\n' });
      const [, other = ''] = await received();
      expect(other).toMatch(/^Subject: =\?UTF-8\?Q\?Gr=C3=BC=C3=9Fe\?=\r$/m);
      expect(other).toMatch(/^Content-Transfer-Encoding: quoted-printable\r$[^]*^Gr=C3=BC=C3=9Fe\r$/m);
      expect(head.split('\r\n')).toEqual(
        expect.arrayContaining([
          'To: ann@example.com',
          'Subject: Your new password',
          'Content-Type: text/plain; charset=utf-8',
        ]),
      );
    });

    test('lets nothing that stands in a header begin another one', async ({ mailer, received }) => {
      await mailer.send({ to: TO, subject: 'One\r\nBcc: eve@example.com\r\n\r\nTwo', text: 'three\n' });
      const [letter = ''] = await received();
      expect(letter).not.toMatch(/^Bcc:/m);
      expect(letter).toMatch(/^Subject: One Bcc: eve@example\.com +Two\r$/m);
    });

    test('delivers each letter once, in order of its sending, with an id of its own', async ({ mailer, received }) => {
      for (const text of ['one\n', 'two\n', 'three\n']) await mailer.send({ to: TO, subject: 's', text });
      const letters = await received();
      expect(letters.map((letter) => letter.split('\r\n').at(-2))).toEqual(['one', 'two', 'three']);
      expect(new Set(letters.map((letter) => /^Message-ID: .*$/m.exec(letter)?.[0])).size).toBe(3);
    });

    test('says where letters go', async ({ mailer }) => {
      expect(mailer.description).toMatch(/\S/);
    });
  });
}
