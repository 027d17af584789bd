import { describe, expect, it } from 'vitest';
import { PlatformError } from '../errors.ts';
import { manifestOf, parseManifest } from './manifest.ts';

const GOOD = 'id: db\npassword: secret\nendpoint:\n  production: https://db.example.com/base/\n  test: http://t\n';

function mistakes(text: string): readonly string[] {
  try {
    parseManifest(text);
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'manifest.invalid') return error.message.split('\n');
    throw error;
  }
  throw new Error('it was taken');
}

describe('a manifest', () => {
  it('says where a service is, with what is left out filled in', () => {
    expect(parseManifest(GOOD)).toEqual({
      id: 'db',
      kind: null,
      url: 'https://db.example.com/base',
      username: 'db',
      password: 'secret',
      team: '',
      isRestricted: null,
    });
  });

  it('may be JSON, name everything, and have what other platforms have', () => {
    const all = { id: 'db', password: 'x', username: 'me', kind: 'osb', team: 'crew', restricted: true, teams: [1] };
    expect(parseManifest(JSON.stringify({ ...all, endpoint: { production: 'db.local:8080' } }))).toEqual({
      id: 'db',
      kind: 'osb',
      url: 'http://db.local:8080',
      username: 'me',
      password: 'x',
      team: 'crew',
      isRestricted: true,
    });
  });

  it('needs no more than the published keys', () => {
    const published = 'id: some_service\nendpoint:\n  production: db.example.com\n';
    expect(parseManifest(published)).toMatchObject({
      username: 'some_service',
      password: '',
      url: 'http://db.example.com',
    });
  });

  it('has passwords that look like numbers, as they are written', () => {
    for (const password of ['0123', '1e5', '007', '3.10', 'true']) {
      expect(parseManifest(GOOD.replace('secret', password)).password).toBe(password);
    }
  });

  it.each([
    ['', ['line 1: expected a mapping such as "id: <name>"']],
    ['just words', ['line 1: expected a mapping such as "id: <name>"']],
    ['- a\n- b', ['line 1: expected a mapping such as "id: <name>"']],
    [GOOD.replace('id: db\n', ''), ['line 1: You must provide an id in the manifest file.']],
    [GOOD.replace('id: db', 'id: instances'), [expect.stringContaining('line 1: the id must be')]],
    [GOOD.replace('https', 'gopher'), [expect.stringContaining('line 4: the production endpoint must be an address')]],
    [GOOD.replace('db.example', 'me:pw@db.example'), [expect.stringContaining('line 4: the production endpoint')]],
    ...['http:/x:81', 'https//x', 'ht!tp://x', 'htt p://x', 'http:https://x'].map((address): [string, unknown[]] => [
      GOOD.replace(/production: .*/, `production: "${address}"`),
      [expect.stringContaining('line 4: the production endpoint must be an address')],
    ]),
    [
      GOOD.replace('production', 'development'),
      ['line 3: You must provide a production endpoint in the manifest file.'],
    ],
    ['id: db\npassword: x\nendpoint: http://x', ['line 3: endpoint must be a mapping with the key production']],
    [
      `${GOOD}kind: soap\nrestricted: maybe\n`,
      [expect.stringMatching(/^line 6: kind/), expect.stringMatching(/^line 7/)],
    ],
    ['id: [1]\npassword: {a: b}', [1, 1, 2].map((line) => expect.stringMatching(`^line ${line}: `) as string)],
    [
      'id: db\npasword: x\nEndpoint:\n  production: http://x',
      ['line 2: this looks like the key password', 'line 3: You must provide a production endpoint'].map(
        (text) => expect.stringContaining(text) as string,
      ),
    ],
    [
      'id: db\npassword: *nowhere\nendpoint:\n  production: http://x',
      [expect.stringMatching(/^line 2: password must be/)],
    ],
  ])('with mistakes: %j', (text, expected) => {
    expect(mistakes(text)).toEqual(expected);
  });

  it('may use anchors', () => {
    const text =
      'where: &here\n  production: http://x\nsecret: &secret s\nid: db\npassword: *secret\nendpoint: *here\n';
    expect(parseManifest(text)).toMatchObject({ id: 'db', password: 's', url: 'http://x' });
  });

  it('that is no YAML is named by line too, and no mistake repeats what is written', () => {
    for (const text of [
      'id: db\npassword: "canary\n',
      'id: db\n  password: canary: canary',
      'a: *canary',
      '"canary": 1\n"canary": 2',
      '\tcanary',
    ]) {
      const found = mistakes(text);
      expect(found.join()).not.toContain('canary');
      for (const line of found) expect(line).toMatch(/^line \d+: /);
    }
  });

  it('that would keep a parser busy or take its stack is not given to one', () => {
    const many = Array.from({ length: 90_000 }, (_, n) => `k${n}: 1`).join('\n');
    for (const text of ['? '.repeat(8_000), '['.repeat(8_000), many]) {
      expect(mistakes(text)).toEqual([expect.stringMatching(/^line 1: the manifest is (?:nested too deeply|longer)/)]);
    }
    expect(mistakes('&a '.repeat(5_000)).length).toBeLessThanOrEqual(20);
  });

  it('may be the fields of a form', () => {
    expect(manifestOf({ id: 'db', endpoint: 'x', password: 'p' })).toMatchObject({ url: 'http://x', username: 'db' });
    expect(() => manifestOf({ id: 'db' })).toThrow(/endpoint/);
  });
});
