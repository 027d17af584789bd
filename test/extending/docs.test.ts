/** docs/extending.md shows what is compiled and run here, and names only what is there. */
import { access, readdir, readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (name: string): Promise<string> => readFile(new URL(name, root), 'utf8');
const guide = await read('docs/extending.md');

it.each(['test/extending/sendmail-mailer.ts', 'test/extending/crystal.ts'])(
  'the guide has %s as it is',
  async (name) => {
    expect(guide).toContain(`\`\`\`ts\n${await read(name)}\`\`\``);
  },
);

it('every path in the guide is there, and every suite is in the file that is named', async () => {
  const paths = [...guide.matchAll(/`((?:src|test|examples)\/[\w./-]+)`/g)].map((match) => match[1] ?? '');
  expect(paths.length).toBeGreaterThan(15);
  // Where a piece of the guide is to be moved by its reader.
  const future = ['src/backends/mailer/sendmail/', 'src/build-plan/languages/crystal/'];
  for (const path of paths.filter((each) => !future.includes(each))) await access(new URL(path, root));
  const suites = [...guide.matchAll(/`(\w+Conformance)` in `([\w./-]+)`/g)];
  expect(suites.length).toBeGreaterThan(5);
  for (const [, suite = '', file = ''] of suites) expect(await read(file)).toContain(`export function ${suite}(`);
});

it('every kind of backend with a conformance suite is in the guide', async () => {
  for (const kind of await readdir(new URL('src/backends', root))) {
    const suite = `src/backends/${kind}/conformance.ts`;
    const isThere = await access(new URL(suite, root)).then(
      () => true,
      () => false,
    );
    if (isThere) expect(guide).toContain(suite);
  }
});

it('ARCHITECTURE.md names every contract of the domain', async () => {
  const page = await read('ARCHITECTURE.md');
  const files = await readdir(new URL('src/domain', root), { recursive: true });
  const texts = await Promise.all(
    files.filter((name) => name.endsWith('.ts')).map((name) => read(`src/domain/${name}`)),
  );
  const contracts = texts
    .filter((text) => /^(?:\/\*\*| \*) Contract: /m.test(text))
    .map((text) => [...text.matchAll(/^export interface (\w+)/gm)].map(([, name]) => name));
  expect(contracts.length).toBeGreaterThan(20);
  expect(contracts.filter((names) => !names.some((name) => page.includes(`\`${name}\``)))).toEqual([]);
});
