import { describe, expect, it } from 'vitest';
import { readEnvFilter, readEnvSet, readEnvUnset } from './env-input.ts';

const FORM = 'application/x-www-form-urlencoded';
const body = (text: string, mediaType = '') => ({ text, mediaType });
const shown = (text: string, mediaType = '', query = {}) => {
  const { vars, noRestart } = readEnvSet(body(text, mediaType), query);
  const list = vars.map(
    (variable) => `${String(variable.name)}=${String(variable.value)}${variable.public ? '' : ' (private)'}`,
  );
  return noRestart ? [...list, 'no restart'] : list;
};

describe('setting variables', () => {
  it.each([
    ['JSON', '{"A":"1","B":""}', '', {}, ['A=1', 'B=']],
    ['JSON labelled as a form, as curl -d does', '{"A":"1"}', FORM, {}, ['A=1']],
    [
      'JSON with options in the query',
      '{"A":"1"}',
      '',
      { private: 'true', noRestart: '1' },
      ['A=1 (private)', 'no restart'],
    ],
    ['JSON with a variable called like an option', '{"private":"true"}', '', {}, ['private=true']],
    [
      'JSON as a list',
      '{"Envs":[{"Name":"A","Value":"1"},{"name":"B","value":"2","private":true}],"norestart":true}',
      '',
      {},
      ['A=1', 'B=2 (private)', 'no restart'],
    ],
    [
      'JSON as it is listed',
      '[{"name":"A","value":"1","public":true},{"name":"B","value":"2","public":false},{"Name":"C","Value":"3"}]',
      '',
      {},
      ['A=1', 'B=2 (private)', 'C=3'],
    ],
    ['a variable called Envs', '{"Envs":"x"}', '', {}, ['Envs=x']],
    [
      'a form',
      'Envs.0.Name=A&Envs.0.Value=a+b%3D&Envs.1.Name=B&Envs.1.Value=&NoRestart=&Private=',
      FORM,
      {},
      ['A=a b=', 'B='],
    ],
    ['a form without a label', 'Envs.0.Name=A&Envs.0.Value=1&Private=true', '', {}, ['A=1 (private)']],
    ['a plain form', 'A=1&B=2&noRestart=true', FORM, {}, ['A=1', 'B=2', 'no restart']],
    ['text whose first name is that of an option', 'PRIVATE=yes ENV=a', '', {}, ['PRIVATE=yes', 'ENV=a']],
    ['text with a variable ENV', 'ENV=production MSG=hello', 'text/plain', {}, ['ENV=production', 'MSG=hello']],
    ['text', 'A=1 B=two  words \t C=x&y+z ', '', {}, ['A=1', 'B=two  words', 'C=x&y+z']],
  ])('reads %s', (_what, text, mediaType, query, expected) => {
    expect(shown(text, mediaType, query)).toEqual(expected);
  });

  it.each([
    '',
    'x',
    '[]',
    '{}',
    '"A=1"',
    '{"A":1}',
    '{"A":null}',
    '[3]',
    '[{"name":"A"}]',
    '[{"name":"A","value":"1","public":"perhaps"}]',
    '{"A":{"b":"c"}}',
    '{"A":',
    '{"Envs":[]}',
    '{"Envs":[3]}',
  ])('refuses %j', (text) => {
    expect(() => readEnvSet(body(text), {})).toThrow();
  });

  it('refuses more variables than an app may have, in each form, before anything is made of them', () => {
    const names = Array.from({ length: 1_001 }, (_, at) => `A${at}`);
    const list = names.map((name) => ({ name, value: '1' }));
    const fields = names.map((name, at) => `Envs.${at}.Name=${name}&Envs.${at}.Value=1&Envs.${at}.Private=false`);
    const unknown = Array.from({ length: 10_001 }, () => 'Envs.0.Alias=');
    for (const [text, mediaType] of [
      [JSON.stringify(Object.fromEntries(names.map((name) => [name, '1']))), ''],
      [JSON.stringify(list), ''],
      [JSON.stringify({ envs: list }), ''],
      [unknown.join('&'), FORM],
      [names.map((name) => `${name}=1`).join(' '), ''],
    ] as const)
      expect(() => readEnvSet(body(text, mediaType), {}), text.slice(0, 40)).toThrow('at most 1000');
    expect(readEnvSet(body(fields.slice(1).join('&'), FORM), {}).vars).toHaveLength(1_000);
  });

  it('refuses an option that is neither yes nor no', () => {
    expect(() => readEnvSet(body('{"A":"1"}'), { private: 'perhaps' })).toThrow('true or false');
  });

  it('keeps a name that means something to the language from doing any harm', () => {
    expect(shown('{"__proto__":"x"}')).toEqual(['__proto__=x']);
    expect(shown('__proto__=x&A=1', FORM)).toEqual(['__proto__=x', 'A=1']);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });
});

describe('removing and selecting variables', () => {
  it.each([
    ['["A","B"]', '', {}, ['A', 'B']],
    ['', '', { env: 'A' }, ['A']],
    ['', '', { env: ['A', 'B'], noRestart: 'true' }, ['A', 'B']],
    ['env=A&env=B', FORM, {}, ['A', 'B']],
    ['env=A&noRestart=true', '', {}, ['A']],
    ['A B_2', '', {}, ['A', 'B_2']],
  ])('reads %j %s %j', (text, mediaType, query, names) => {
    expect(readEnvUnset(body(text, mediaType), query).names).toEqual(names);
  });

  it.each(['', '[]', '{}', 'null', '[1]', 'not json', '["A"'])('refuses to remove %j', (text) => {
    expect(() => readEnvUnset(body(text), {})).toThrow('You must provide the list of environment variables');
  });

  it('selects by body or query, and all when neither names any', () => {
    expect(readEnvFilter(body('["A"]\n'), { env: 'B' })).toEqual(['A', 'B']);
    expect(readEnvFilter(body('null\n'), {})).toBeUndefined();
    expect(readEnvFilter(body('{"garbage'), {})).toBeUndefined();
    expect(readEnvFilter(body('FOO'), {})).toEqual(['FOO']);
  });
});
