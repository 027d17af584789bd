import { expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import { planSource } from '../../plan-source.ts';
import { LANGUAGES } from '../built-in.ts';

async function notes(lock: string, text: string): Promise<string> {
  const files = sourceOf({ 'package.json': '{"scripts":{"start":"node ."}}', [lock]: text });
  return (await planSource({ app: 'shop', platform: 'nodejs', languages: LANGUAGES, files })).plan.notes.join('\n');
}

const npm = (host: string): string =>
  `{"packages":{"":{},"node_modules/a":{\n"version":"1.0.0",\n"resolved": "https://${host}/a/-/a-1.0.0.tgz"}}}`;

it.each([
  ['package-lock.json', npm('npm.example.de'), 3],
  ['package-lock.json', npm('registry.npmjs.org.example.de'), 3],
  ['yarn.lock', '# yarn lockfile v1\n\na@1:\n  version "1.0.0"\n  resolved "http://npm.example.de:8080/a.tgz#1"\n', 5],
])('a registry that %s alone names is reported', async (lock, text, line) => {
  expect(await notes(lock, text)).toMatch(
    new RegExp(`${lock} line ${line} has packages come from \\S+\\.example\\.de,`),
  );
});

it('nothing is said of the usual ones', async () => {
  expect(await notes('package-lock.json', npm('registry.npmjs.org'))).not.toContain('has packages come from');
  expect(await notes('package-lock.json', npm('codeload.github.com'))).not.toContain('has packages come from');
});
