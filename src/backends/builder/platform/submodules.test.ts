/** Submodules of what is pushed: fetched from real repositories over HTTP, or said to be missing. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BuilderWorld, builderWorld } from '../../../../test/support/builder-world.ts';
import { nodeApp } from '../../../../test/support/git.ts';
import { serveRepositories } from '../../../../test/support/git-http.ts';
import { itLong } from '../../../../test/support/long-cases.ts';
import { treeOf } from '../../../../test/support/source-trees.ts';
import type { Submodule } from '../../../domain/deploys/builder.ts';

const folder = mkdtempSync(join(tmpdir(), 'submodules-'));
const git = (directory: string, ...args: string[]): string =>
  execFileSync('git', ['-C', directory, '-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

let world: BuilderWorld;
let server: Awaited<ReturnType<typeof serveRepositories>>;
beforeAll(async () => {
  world = await builderWorld();
  server = await serveRepositories(folder);
});
afterAll(async () => {
  await server.close();
  await world.dispose();
  rmSync(folder, { recursive: true, force: true });
});

/** Two commits, of which the first is named: as a submodule stays where it was when others go on. Answers that commit. */
function repository(name: string, files: Readonly<Record<string, string>>, links: readonly Submodule[] = []): string {
  const work = join(folder, name);
  mkdirSync(work);
  git(work, 'init', '--quiet', '-b', 'main');
  for (const [path, text] of Object.entries(files)) writeFileSync(join(work, path), text);
  git(work, 'add', '.');
  for (const { path, commit } of links) git(work, 'update-index', '--add', '--cacheinfo', `160000,${commit},${path}`);
  git(work, 'commit', '--quiet', '-m', 'first');
  const commit = git(work, 'rev-parse', 'HEAD');
  git(work, 'commit', '--quiet', '--allow-empty', '-m', 'second');
  git(work, 'clone', '--quiet', '--bare', '.', join(folder, `${name}.git`));
  return commit;
}

const modules = (addresses: Readonly<Record<string, string>>): string =>
  Object.entries(addresses)
    .map(([path, url]) => `[submodule "${path}"]\n\tpath = ${path}\n\turl = ${url}\n`)
    .join('');

async function build(addresses: Readonly<Record<string, string>>, submodules: readonly Submodule[]) {
  const source = treeOf({ ...nodeApp('hello'), '.gitmodules': modules(addresses) });
  const withThem = { ...source, submodules: () => submodules };
  return world.build({ platform: 'nodejs', source: withThem });
}

it('are fetched at their commits, with their own, and without their history', async () => {
  const inner = repository('inner', { 'deep.txt': 'deep' });
  const address = { inner: `${server.url}/inner.git` };
  const outer = repository('outer', { 'page.txt': 'page', '.gitmodules': modules(address) }, [
    { path: 'inner', commit: inner },
  ]);
  const made = await build({ 'lib/outer': `${server.url}/outer.git` }, [{ path: 'lib/outer', commit: outer }]);
  expect(world.lines).toContain(`Submodule lib/outer: fetched at ${outer.slice(0, 12)}`);
  expect(world.lines.join('\n')).not.toContain('left empty');
  expect(readFileSync(world.code(made, 'lib/outer/page.txt'), 'utf8')).toBe('page');
  expect(readFileSync(world.code(made, 'lib/outer/inner/deep.txt'), 'utf8')).toBe('deep');
  for (const path of ['.git', 'lib/outer/.git', 'lib/outer/inner/.git'])
    expect(existsSync(world.code(made, path))).toBe(false);
});

const EMPTY: readonly [string, () => string | null, RegExp][] = [
  ['that is nowhere', () => `${server.url}/none.git`, /none\.git\/' not found/],
  ['whose address has a password', () => `${server.url.replace('//', '//me:secret@')}/none.git`, /http:\/\/127/],
  ['whose address is for SSH', () => 'git@git.example.com:a/b.git', /one for SSH.*change it in \.gitmodules/],
  ['whose address is relative', () => '../theme.git', /relative.*whole https address/],
  ['that has no address', () => null, /git rm --cached theme; then remove theme\/\.git and git add theme/],
];
for (const [what, url, why] of EMPTY) {
  itLong(`one ${what} is left empty, which is said, and the app is built without it`, async () => {
    const address = url();
    const commit = '1'.repeat(40);
    const made = await build(address === null ? {} : { theme: address }, [{ path: 'theme', commit }]);
    const said = world.lines.join('\n');
    expect(said).toMatch(/Warning: the submodule theme is left empty: /);
    expect(said).toMatch(why);
    expect(said).not.toContain('secret');
    expect(said).toContain(
      'tancho deploy -a shop, in a directory that has them (git submodule update --init --recursive)',
    );
    const theme = world.code(made, 'theme');
    expect(existsSync(theme) ? readdirSync(theme) : []).toEqual([]);
  });
}
