import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, passwordsIn, redactAll, redactorOf, secretForms, withEncoded } from './redact.ts';
import { processorMs } from '../../test/support/processor-ms.ts';

describe('createRedactor', () => {
  it('replaces every occurrence of a secret, wherever it stands', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 6 }), fc.string(), fc.string(), (secret, before, after) => {
        fc.pre(!'***'.includes(secret) && secret.trim().length >= 6);
        expect(createRedactor([secret])(`${before}${secret}${after}${secret}`)).not.toContain(secret);
      }),
    );
  });

  it('hides the longer of two secrets whole when one contains the other', () => {
    expect(createRedactor(['secret', 'secret-and-more'])('a secret-and-more b')).toBe('a *** b');
  });

  it('hides the lines of a secret with several lines', () => {
    expect(createRedactor(['-----KEY-----\nabcdefgh'])('it said abcdefgh')).toBe('it said ***');
  });

  it('hides a line of a secret that another system has written, and one with a line end of its own', () => {
    const redact = createRedactor(['first line\r\nsecond line', 'with-an-end\n', 'secret-1', 'secret-1-and-more']);
    expect(redact('second line, with-an-end, secret-1-and-more secret-1')).toBe('***, ***, *** ***');
  });

  it('hides the password in an address, however it is written', () => {
    const redact = createRedactor(['postgres://ann:pass%2Fword@db/shop', 'redis://:an0ther-one@db']);
    expect(redact('pass/word or pass%2Fword of ann, an0ther-one')).toBe('*** or *** of ann, ***');
  });

  it('leaves short values alone', () => {
    expect(createRedactor(['on'])('going on')).toBe('going on');
  });

  it('knows a secret inside JSON', () => {
    const redact = createRedactor(['pass"word\\1\twith', 'first line\nsecond "line"']);
    expect(redact(JSON.stringify({ a: 'pass"word\\1\twith', b: 'second "line"' }))).toBe('{"a":"***","b":"***"}');
  });

  it('is quick however many lines the secrets have, and still knows the values and the longest lines', async () => {
    const short = Array.from({ length: 150_000 }, (_, n) => `s${n}`).join('\n');
    const redact = createRedactor([short, 'the whole value', `a line that is long enough\n${short}`]);
    const printed = Array.from({ length: 10_000 }, (_, n) => `line ${n}`);
    const begun = processorMs();
    const shown = await redactAll(redact, [...printed, 'the whole value', 'a line that is long enough', 's149999']);
    expect(processorMs() - begun).toBeLessThan(60_000);
    expect(shown.slice(-3, -1)).toEqual(['***', '***']);
    expect(shown[0]).toBe('line 0');
  });

  it('looks for no more lines of base64 than anybody has keys, and those of the shortest values', () => {
    const key = 'a key that is not long, but longer than a line of base64 may be; '.repeat(2);
    const forms = secretForms([key, ...Array.from({ length: 15 }, (_, at) => `${at} of many `.repeat(5_000))]);
    expect(forms.length).toBeLessThan(5_000);
    const lines =
      Buffer.from(key)
        .toString('base64')
        .match(/.{1,76}/g) ?? [];
    expect(lines.slice(0, 2).map(redactorOf(forms))).toEqual(['***', '***']);
  });
});

describe('redactAll', () => {
  it('answers each text as it would be alone, also beside a secret of several lines', async () => {
    const redact = createRedactor(['secret-one', 'first line\nsecond line']);
    for (const texts of [
      ['a secret-one', 'b', ''],
      ['first line', 'second line'],
      ['x', 'first line\nsecond line'],
      [],
    ]) {
      expect(await redactAll(redact, texts)).toEqual(texts.map((text) => redact(text)));
    }
    expect(await redactAll(redact, ['first line', 'second line'])).toEqual(['***', '***']);
  });

  it('lets others come in between where a secret has many lines that begin alike', async () => {
    const alike = Array.from({ length: 2_000 }, (_, at) => `aaaaaaaaaaaaaaaaaaaaaaaa${at}`);
    let others = 0;
    const timer = setInterval(() => (others += 1), 0);
    const shown = await redactAll(createRedactor([alike.join('\n')]), ['a'.repeat(128 * 1024), `x ${alike[7] ?? ''}`]);
    clearInterval(timer);
    expect(shown[1]).toBe('x ***');
    expect(others).toBeGreaterThan(2);
  });

  it('strikes out as one what overlaps, however often', async () => {
    const nested = Array.from({ length: 300 }, (_, at) => 'a'.repeat(6 + at));
    expect(createRedactor([nested.join('\n')])(`b${'a'.repeat(100_000)}c`)).toBe('b***c');
  });
});

it('what is asked for in the ways of a request is struck out in each', () => {
  const secret = 'a b&c=\u00fc/+%';
  const redact = createRedactor(withEncoded([secret, '\ud800 half of it']));
  for (const text of [secret, new URLSearchParams({ k: secret }).toString(), `k=${encodeURIComponent(secret)}`]) {
    expect(redact(text).replace('k=', '')).toBe('***');
  }
});

it('finds a value in base64 wherever it stands, in hexadecimal digits, HTML, a form, a query and JSON within JSON', () => {
  const value = 'p&ss"w<rd/+ 42é';
  const redact = createRedactor([value]);
  const printed = [
    ...['', 'a', 'ab', 'abc'].flatMap((before) =>
      (['base64', 'base64url'] as const).map((form) => Buffer.from(`${before}${value}, and more`).toString(form)),
    ),
    Buffer.from(value).toString('base64'),
    Buffer.from(value).toString('hex'),
    Buffer.from(value).toString('hex').toUpperCase(),
    'p&amp;ss&quot;w&lt;rd/+ 42é',
    encodeURIComponent(value),
    new URLSearchParams({ value }).toString(),
    JSON.stringify(JSON.stringify({ value })),
  ];
  for (const text of printed) expect([text, redact(`it is ${text}.`).includes('***')]).toEqual([text, true]);
  expect(redact('it is cHJpbnRlZA== or 7072696e746564')).toBe('it is cHJpbnRlZA== or 7072696e746564');
});

it('an address of nothing but colons holds nobody up, and the passwords of others are found', () => {
  const begun = processorMs();
  const values = Array.from({ length: 16 }, (_, at) => `a${at}://${':'.repeat(65_000)}`);
  expect(values.flatMap(passwordsIn)).toEqual([]);
  expect(processorMs() - begun).toBeLessThan(10_000);
  const found = ['a://u:p@h', 'a://u:p:q@r@h/x@y', 'a://:p@', 'a://u:@h', 'a://u@h:1', 'a://u@h:1@b', 'a:u:p@h'].map(
    (address) => passwordsIn(address)[0] ?? '',
  );
  expect(found).toEqual(['p', 'p:q@r', 'p', '', '', '', '']);
});
