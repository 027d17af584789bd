import { mkdtemp, rm, mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadPlatforms } from './load-platforms.ts';
import { readPlatform } from './read-platform.ts';

const SHIPPED = new URL('../../../../../platforms', import.meta.url).pathname;
const HEAD = 'description: d\nexample: e\ndetect: [x]\n';

describe('platform.yaml', () => {
  it('of the platforms that come with the program are well written', async () => {
    const platforms = await loadPlatforms(SHIPPED);
    expect([...platforms.keys()]).toEqual(['go', 'nodejs', 'python', 'static']);
    for (const platform of platforms.values()) {
      for (const tool of platform.tools) expect(Object.keys(tool.install), tool.program).not.toEqual([]);
    }
  });

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
      `${HEAD}steps:\n  - { name: a, when: has-it, run: [x] }`,
      /steps\[0\].when must be one of the facts above \(there are none\)/,
    ],
    [
      `${HEAD}steps:\n  - { name: a, when: { file: x, text: y }, run: [x] }`,
      /steps\[0\].when must be a fact, a list, or one of/,
    ],
    [`${HEAD}facts: { a: { json: { file: x } } }`, /facts.a.json needs the key "has"/],
    [`${HEAD}tools: [{ program: x, minimum: new, install: {} }]`, /tools\[0\].minimum must be a version such as/],
    [`${HEAD}tools: [{ program: x, install: { pacman: x } }]`, /install.pacman is not a known key/],
    [`${HEAD}dependencies: [{ name: x, key: {}, steps: [] }]`, /dependencies\[0\] must be given either "restored/],
    [
      `${HEAD}environment: [{ name: A, value: b, scope: always }]`,
      /environment\[0\].scope must be one of both, build, run/,
    ],
    [`${HEAD}files: [{ from: a, to: ../b }]`, /files\[0\].to must be a file directly below .tancho\//],
    [`${HEAD}colour: red`, /line 4: colour is not a known key/],
  ])('names file and key of a mistake: %j', (text, message) => {
    expect(() => readPlatform('p', 'p.yaml', text)).toThrow(message);
  });

  it('that cannot be read stops the start with its path', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'platforms-'));
    try {
      await expect(loadPlatforms(directory)).rejects.toMatchObject({ code: 'config.invalid' });
      await mkdir(join(directory, 'odd'));
      await expect(loadPlatforms(directory)).rejects.toThrow(/odd\/platform.yaml cannot be read/);
      await writeFile(join(directory, 'odd', 'platform.yaml'), 'detect: 1');
      await expect(loadPlatforms(directory)).rejects.toThrow(/odd\/platform.yaml line 1/);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
