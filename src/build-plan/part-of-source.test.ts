import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../test/support/memory-source.ts';
import { LANGUAGES } from './languages/built-in.ts';
import { isPartOfSource } from './part-of-source.ts';
import { planSource } from './plan-source.ts';

type Files = Readonly<Record<string, string>>;

const CARGO: Files = {
  'Cargo.toml': '[workspace]\nmembers = ["crates/*"]\n',
  'Cargo.lock': 'version = 4\n',
  'crates/shop/Cargo.toml': '[package]\nname = "shop"\nedition.workspace = true\n',
  'crates/shop/src/main.rs': '',
  'crates/alone/Cargo.toml': '[package]\nname = "alone"\n',
  'crates/alone/src/main.rs': '',
  'own/Cargo.toml': '[workspace]\n\n[workspace.package]\nedition = "2021"\n\n[package]\nedition.workspace = true\n',
};
const GO: Files = {
  'go.work': 'go 1.23\n\nuse (\n\t./api\n\t./shared\n\t./jobs\n)\n',
  'api/go.mod': 'module example.com/api\n\ngo 1.23\n\nrequire example.com/shared v0.0.0\n',
  'api/main.go': 'package main\n\nfunc main() {}\n',
  'shared/go.mod': 'module example.com/shared\n',
  'jobs/go.mod': 'module example.com/jobs\n\nrequire example.com/elsewhere v1.0.0\n',
  'beside/go.mod': 'module example.com/beside\n\nreplace example.com/shared => ../shared\n',
};

const isPart = (files: Files, directory: string) => isPartOfSource(LANGUAGES, sourceOf(files), directory);

async function plan(files: Files, directory: string) {
  const { plan: made } = await planSource({
    ...{ app: 'web', platform: 'auto', languages: LANGUAGES, files: sourceOf(files), directory },
  });
  expect(made.problems).toEqual([]);
  return made;
}

describe('a directory that takes something from beside it', () => {
  it.each<[string, Files, string, boolean]>([
    ['a crate that inherits', CARGO, 'crates/shop', true],
    ['a crate by itself', CARGO, 'crates/alone', false],
    ['a workspace in a directory', CARGO, 'own', false],
    ['a module that takes one of its workspace', GO, 'api', true],
    ['a module that is merely listed', GO, 'jobs', false],
    ['a module that is replaced from beside it', GO, 'beside', true],
    ['a module by itself', { 'go.mod': 'module a\n', 'b/go.mod': 'module b\n' }, 'b', false],
  ])('is built with the whole source: %s', async (_, files, directory, expected) => {
    expect(await isPart(files, directory)).toBe(expected);
  });

  it('is that only for the platform that builds it', async () => {
    expect(await isPartOfSource(LANGUAGES, sourceOf(CARGO), 'crates/shop', 'static')).toBe(false);
    expect(await isPartOfSource(LANGUAGES, sourceOf(CARGO), 'crates/shop', 'rust')).toBe(true);
  });

  it('is a crate that is compiled in its directory, by the lock file of its workspace', async () => {
    const made = await plan(CARGO, 'crates/shop');
    expect(made.steps.map(({ directory }) => directory)).toEqual(['crates/shop', 'crates/shop']);
    expect(made.processes['web']?.command).toBe('cd crates/shop && target/release/shop');
    expect(made.path).toEqual(['crates/shop/target/release']);
    expect(made.notes.join()).not.toContain('no Cargo.lock');
  });

  it('is a module that is compiled in its directory, without sums of those beside it', async () => {
    const made = await plan(GO, 'api');
    expect(made.steps.at(-1)).toMatchObject({ name: 'go build .', directory: 'api' });
    expect(made.processes['web']?.command).toBe('cd api && bin/api');
  });

  it('has a Procfile that names its programs as they lie in it', async () => {
    const made = await plan({ ...GO, 'api/Procfile': 'web: bin/api -v\n' }, 'api');
    expect(made.processes['web']?.command).toBe('cd api && bin/api -v');
  });
});
