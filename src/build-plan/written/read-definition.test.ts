import { describe, expect, it } from 'vitest';
import { readDefinition } from './read-definition.ts';

const HEAD = 'description: d\nexample: e\ndetect: [x]\n';
const read = (text: string) => readDefinition('p.yaml', text, new Set(['HTTPS_PROXY']));

describe('the definition of a platform', () => {
  it.each([
    ['description: d\nexample: e', /p.yaml line 1: the file needs the key "detect"/],
    [`${HEAD}steps:\n  - name: a`, /line 5: steps\[0\] needs the key "run"/],
    [
      `${HEAD}steps:\n  - { name: a, run: make all }`,
      /steps\[0\].run must be a list of arguments, the program first, found the text/,
    ],
    [
      `${HEAD}steps:\n  - { name: a, run: [make, '{cod}'] }`,
      /steps\[0\].run must be free of \{cod\}; known here: \{app\}, \{code\}/,
    ],
    [
      `${HEAD}steps:\n  - { name: a, when: { file: x }, run: [x] }`,
      /steps\[0\].when must be a file or a list of files, one of which is there, found a mapping/,
    ],
    [`${HEAD}inherit:\n  - HTTPS_PROXY\n  - TANCHO_DATABASE_URL`, /line 6: inherit\[1\] must be one of HTTPS_PROXY/],
    [`${HEAD}tools:\n  - { program: ../sh, install: {} }`, /line 5: tools\[0\].program must be the name of a program/],
    [`${HEAD}tools: [{ program: x, minimum: new, install: {} }]`, /tools\[0\].minimum must be a version such as/],
    [`${HEAD}tools: [{ program: x, install: { pacman: x } }]`, /install.pacman is not a known key/],
    [`${HEAD}dependencies: [{ name: x, key: {}, steps: [] }]`, /dependencies\[0\] must be given either "restored/],
    [
      `${HEAD}environment: [{ name: A, value: b, scope: always }]`,
      /environment\[0\].scope must be one of both, build, run/,
    ],
    [`${HEAD}files: [{ from: /etc/passwd, to: .tancho/x }]`, /line 4: files is not a known key/],
    [`${HEAD}ask:\n  - { variable: A, command: [id] }`, /line 4: ask is not a known key/],
    [`${HEAD}shared-tools: [{ name: t, per: sh, steps: [[id]] }]`, /line 4: shared-tools is not a known key/],
    [`${HEAD}colour: red`, /line 4: colour is not a known key/],
  ])('names file and key of a mistake: %j', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});
