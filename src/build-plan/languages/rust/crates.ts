/** The packages of a Rust source and their programs, as Cargo finds them. */
import { isRecord } from '../../../lib/is-record.ts';
import { withoutTrailing } from '../../../lib/without-trailing.ts';
import type { SourceFiles } from '../../source/source-files.ts';

export interface Crate {
  readonly name: string;
  /** Of its Cargo.toml, relative to the top; '' is the top. */
  readonly directory: string;
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly programs: readonly string[];
  /** `default-run`. */
  readonly usual: string | null;
}

export interface Crates {
  /** The package at the top first. */
  readonly crates: readonly Crate[];
  readonly isWorkspace: boolean;
  /** What is built where nothing else is named; null: nobody says. */
  readonly usual: readonly string[] | null;
  /** False when members are named in a way that is not followed here. */
  readonly isAll: boolean;
}

const MAX_CRATES = 200;
/** Each is looked for in directory by directory. */
const MAX_PATTERNS = 1_000;
const NAME = /^[A-Za-z0-9_][\w-]*$/;

/** Throws Failure `invalid_config` for a Cargo.toml that cannot be read. */
export async function readCrates(files: SourceFiles): Promise<Crates> {
  const top = (await files.toml('Cargo.toml')) ?? {};
  const workspace = table(top, 'workspace');
  const patterns = texts(workspace?.['members']).slice(0, MAX_PATTERNS);
  const excluded = texts(workspace?.['exclude']).map(plain);
  const directories = new Set(['']);
  for (const pattern of patterns.map(plain)) {
    for (const found of await files.findAll(pattern === '' ? 'Cargo.toml' : `${pattern}/Cargo.toml`)) {
      const directory = found.replace(/\/?Cargo\.toml$/, '');
      if (!excluded.includes(directory)) directories.add(directory);
    }
  }
  const named = texts(workspace?.['default-members']).map(plain);
  const usual =
    named.length === 0 ? null : [...directories].filter((each) => named.some((pattern) => fits(each, pattern)));
  const crates: Crate[] = [];
  for (const directory of [...directories].slice(0, MAX_CRATES)) {
    const crate = await readCrate(files, directory);
    if (crate !== null) crates.push(crate);
  }
  const areFollowed = patterns.length < MAX_PATTERNS && !patterns.some((pattern) => /\*\*|[?[]|\.\./.test(pattern));
  const isAll = directories.size <= MAX_CRATES && areFollowed;
  return { crates, isWorkspace: workspace !== null, usual, isAll };
}

async function readCrate(files: SourceFiles, directory: string): Promise<Crate | null> {
  const below = (path: string): string => (directory === '' ? path : `${directory}/${path}`);
  const manifest = (await files.toml(below('Cargo.toml'))) ?? {};
  const about = table(manifest, 'package');
  const name = about?.['name'];
  if (about === null || typeof name !== 'string' || !NAME.test(name)) return null;
  const named = (Array.isArray(manifest['bin']) ? manifest['bin'] : []).filter(isRecord);
  const programs = new Set<string>();
  if (about['autobins'] !== false) {
    if (await files.exists(below('src/main.rs'))) programs.add(name);
    for (const path of await files.findAll(below('src/bin/*.rs'))) {
      programs.add((path.split('/').at(-1) ?? '').replace(/\.rs$/, ''));
    }
    for (const path of await files.findAll(below('src/bin/*/main.rs'))) programs.add(path.split('/').at(-2) ?? '');
  }
  for (const { name: own, path, 'required-features': features } of named) {
    if (typeof own !== 'string') continue;
    // The one that was found at that place has this name instead.
    if (path === 'src/main.rs') programs.delete(name);
    if (texts(features).length === 0) programs.add(own);
    else programs.delete(own);
  }
  const usual = about['default-run'];
  return {
    name,
    directory,
    manifest,
    programs: [...programs].filter((program) => NAME.test(program)),
    usual: typeof usual === 'string' ? usual : null,
  };
}

/** Null when there is no such table. */
export function table(record: Readonly<Record<string, unknown>>, key: string): Record<string, unknown> | null {
  const value = Object.hasOwn(record, key) ? record[key] : null;
  return isRecord(value) ? value : null;
}

/** `crates/*`: of one level. */
function fits(directory: string, pattern: string): boolean {
  const parts = directory.split('/');
  const wanted = pattern.split('/');
  return parts.length === wanted.length && wanted.every((part, index) => part === '*' || part === parts[index]);
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function plain(path: string): string {
  return path === '.' ? '' : withoutTrailing(path.replace(/^(?:\.\/)+/, ''), '/');
}
