import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Part, PartRedactor } from './redact-parts.ts';
import { redactorOf, secretForms } from './redact.ts';

const SECRET = 'correct horse battery';

function shown(secret: string, parts: readonly Part[]): string[] {
  const forms = secretForms([secret]);
  const [redact, redactParts] = [redactorOf(forms), new PartRedactor(forms)];
  return parts.map((part) => redact(redactParts.redact(part)));
}

/** As the parts of one line. */
function parts(...texts: readonly string[]): Part[] {
  return texts.map((text, at) => ({ text, continues: at > 0, goesOn: at < texts.length - 1 }));
}

it('hides both sides of a secret that is cut', () => {
  expect(shown(SECRET, parts('it is correct ho', 'rse battery, is it'))).toEqual(['it is ***', '***, is it']);
  expect(shown(SECRET, parts('it is correct', ' horse ', 'battery'))).toEqual(['it is ***', '***', '***']);
});

it('hides all but the first three characters of one that is cut right behind its beginning', () => {
  expect(shown(SECRET, parts('it is cor', 'rect horse battery'))).toEqual(['it is cor', '***']);
});

it('leaves alone what is no secret, and what is of another line', () => {
  expect(shown(SECRET, parts('it is correct', ', and a horse'))).toEqual(['it is ***', ', and a horse']);
  expect(shown(SECRET, [{ text: 'it is correct' }, { text: ' horse battery' }])).toEqual([
    'it is correct',
    ' horse battery',
  ]);
  expect(shown(SECRET, [{ text: 'it is correct', goesOn: true }, { text: ' horse battery' }])).toEqual([
    'it is ***',
    ' horse battery',
  ]);
});

it('hides several in one part, overlapping ones, and those that begin and end in the same', () => {
  const forms = secretForms(['abcdefgh', 'efghijkl']);
  const redactParts = new PartRedactor(forms);
  expect(redactParts.redact({ text: '1 abcdef', goesOn: true })).toBe('1 ***');
  expect(redactParts.redact({ text: 'ghijkl 2 abcde', continues: true, goesOn: true })).toBe('*** 2 ***');
});

it('however a line is cut and however the secret is written, no more than three characters of it are left together', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '"', '&', 'é'), minLength: 8, maxLength: 40 });
  const lengths = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 20 });
  fc.assert(
    fc.property(text, fc.nat(20), lengths, (secret, which, sizes) => {
      fc.pre(secret.trim().length >= 8);
      const forms = secretForms([secret]);
      const form = forms[which % forms.length] ?? '';
      const cut: string[] = [];
      let rest = `before ${form} after`;
      for (const size of sizes) {
        cut.push(rest.slice(0, size));
        rest = rest.slice(size);
      }
      const printed = [...cut, rest].filter((part) => part !== '');
      const redactParts = new PartRedactor(forms);
      const hidden = parts(...printed).map((part) => redactParts.redact(part));
      // The same cut, with what was hidden within one part hidden as well.
      const all = hidden.map(redactorOf(forms)).join('');
      for (let at = 0; at + 8 <= form.length; at += 1) expect(all).not.toContain(form.slice(at, at + 8));
    }),
  );
});

it('remembers no more of a line that never ends than a secret is long', () => {
  const endless = { text: 'x'.repeat(10_000), continues: true, goesOn: true };
  for (const secrets of [[], [SECRET]]) {
    const redactParts = new PartRedactor(secretForms(secrets));
    for (let part = 0; part < 10; part += 1) redactParts.redact(endless);
    expect(redactParts.before.length).toBeLessThan(100);
  }
});
