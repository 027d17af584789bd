import { describe, expect, it } from 'vitest';
import { readAddedPlatform } from './added-platform.ts';

const HEAD = 'description: d\nexample: e\ndetect: [x]\n';
const read = (text: string) => readAddedPlatform('ruby', text, new Set(['HTTPS_PROXY']));

function codeOf(text: string): unknown[] {
  try {
    return [read(text).name];
  } catch (error) {
    const { code, message } = error as { code: unknown; message: unknown };
    return [code, message];
  }
}

describe('an added platform', () => {
  it('is written like those that come with the program', () => {
    const steps = 'steps: [{ name: make, run: [make, all] }]\nprocesses: [{ name: web, command: ./web }]';
    expect(read(`${HEAD}${steps}\ninherit: [HTTPS_PROXY]`)).toMatchObject({
      name: 'ruby',
      detect: ['x'],
      inherit: ['HTTPS_PROXY'],
      steps: [{ name: 'make', run: ['make', 'all'] }],
    });
  });

  it.each([
    ['description: d', /^ruby.yaml line 1: the file needs the key/],
    [`${HEAD}a: [`, /^ruby.yaml line 4: this is not YAML/],
    [`${HEAD}ask:\n  - { variable: A, command: [id] }`, /^ruby.yaml line 4: ask is only for platforms that come/],
    [`${HEAD}\nfiles: [{ from: /etc/passwd, to: .tancho/x }]`, /line 5: files is only for/],
    [`${HEAD}shared-tools: [{ name: t, per: sh, steps: [[id]] }]`, /line 4: shared-tools is only for/],
    [`${HEAD}inherit:\n  - HTTPS_PROXY\n  - TANCHO_DATABASE_URL`, /line 6: inherit\[1\] must be one of HTTPS_PROXY/],
    [`${HEAD}tools:\n  - { program: ../sh, install: {} }`, /line 5: tools\[0\].program must be the name of a program/],
  ])('is refused where it reaches too far or is wrong: %j', (text, message) => {
    expect(codeOf(text)).toEqual(['platform.invalid_definition', expect.stringMatching(message)]);
  });

  it.each(['FROM ruby:3\nRUN bundle', '# syntax\nARG V=3\nFROM ruby:$V', 'https://example.com/Dockerfile'])(
    'is no Dockerfile: %j',
    (text) => {
      expect(codeOf(text)).toEqual(['unsupported', expect.stringContaining('Dockerfile')]);
    },
  );
});
