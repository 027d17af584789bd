import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../test/support/memory-source.ts';
import { planSource } from '../plan-source.ts';
import { writtenLanguage } from './written-language.ts';

const HEAD = 'description: d\nexample: e\ndetect: [x]\n';
const read = (text: string) => writtenLanguage('ruby', text, new Set(['HTTPS_PROXY']));

function codeOf(text: string): unknown[] {
  try {
    return [read(text).name];
  } catch (error) {
    const { code, message } = error as { code: unknown; message: unknown };
    return [code, message];
  }
}

const WHOLE = `${HEAD}
inherit: [HTTPS_PROXY]
tools:
  - program: ruby
    install: { apt-get: apt-get install -y ruby }
    runtime: true
    asked: [{ file: .ruby-version, matches: '^(\\S+)' }]
  - { program: node, when: package.json, install: {} }
environment:
  - { name: BOTH, value: '{layer}' }
  - { name: ASSETS, value: 'yes', when: [assets, app/assets] }
dependencies:
  - name: gems
    restored: vendor
    never-kept: local.gem
    key: { files: [Gemfile.lock], json: { package.json: [packages] } }
    steps: [{ name: bundle, run: [bundle, install] }, { name: no, when: missing, run: [no] }]
steps: [{ name: make, when: Makefile, run: [make, all] }]
notes: [{ text: slow, when: Makefile }]
processes: [{ name: web, when: config.ru, command: rackup }, { name: web, command: ruby x }]
`;

describe('an added platform', () => {
  const plan = async (files: Record<string, string>) =>
    (await planSource({ app: 'shop', platform: 'ruby', languages: [read(WHOLE)], files: sourceOf(files) })).plan;

  it('is a plan, of which parts depend on files', async () => {
    expect(await plan({ x: '' })).toMatchObject({
      platform: 'ruby',
      inherit: ['HTTPS_PROXY'],
      tools: [{ program: 'ruby', runtime: true }],
      environment: [{ name: 'BOTH', value: '{layer}', scope: 'both' }],
      dependencies: [{ name: 'gems', neverKept: null, steps: [{ name: 'bundle', run: ['bundle', 'install'] }] }],
      steps: [],
      notes: [],
      processes: { web: { command: 'ruby x' } },
      problems: [],
    });
    const files = { x: '', Makefile: '', 'config.ru': '', 'app/assets/a.css': '', 'package.json': '{"packages":1}' };
    const more = await plan({ ...files, 'local.gem': '', '.ruby-version': '3.3.0' });
    expect(more).toMatchObject({
      tools: [{ wanted: { text: '3.3.0', from: '.ruby-version', range: '>=3.3.0 <3.4.0-0' } }, { program: 'node' }],
      environment: [{ name: 'BOTH' }, { name: 'ASSETS' }],
      dependencies: [{ neverKept: 'there is local.gem', key: { values: { 'package.json#packages': 1 } } }],
      steps: [{ name: 'make', run: ['make', 'all'] }],
      notes: ['slow'],
      processes: { web: { command: 'rackup' } },
    });
    expect(more.tools[0]).not.toHaveProperty('asked');
  });

  it('says when it does not understand which version a source asks for', async () => {
    const { tools, notes } = await plan({ x: '', '.ruby-version': 'jruby-9' });
    expect(tools[0]).not.toHaveProperty('wanted');
    expect(notes).toEqual([
      '.ruby-version asks for "jruby-9", which is no version of ruby; the one that is there is used',
    ]);
  });

  it('that is wrong names its file, line and key', () => {
    expect(codeOf('description: d')).toEqual([
      'platform.invalid_definition',
      expect.stringMatching(/^ruby.yaml line 1: the file needs the key/),
    ]);
    expect(codeOf(`${HEAD}a: [`)).toEqual([
      'platform.invalid_definition',
      expect.stringMatching(/^ruby.yaml line 4: this is not YAML/),
    ]);
  });

  it.each(['FROM ruby:3\nRUN bundle', '# syntax\nARG V=3\nFROM ruby:$V', 'https://example.com/Dockerfile'])(
    'is no Dockerfile: %j',
    (text) => {
      expect(codeOf(text)).toEqual(['unsupported', expect.stringContaining('Dockerfile')]);
    },
  );
});
