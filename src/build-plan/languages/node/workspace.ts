/** The packages of a workspace, and which of them is the app. */
import { isRecord } from '../../../lib/is-record.ts';
import { withoutTrailing } from '../../../lib/without-trailing.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { type PackageJson, readPackageJson } from './package-json.ts';

export interface Member {
  /** Relative to the top. */
  readonly directory: string;
  /** As other packages call it; '' when it has none. */
  readonly name: string;
  readonly files: SourceFiles;
  readonly packageJson: PackageJson;
}

const PNPM_FILE = 'pnpm-workspace.yaml';
const MAX_MEMBERS = 200;
/** Each is looked for in directory by directory. */
const MAX_PATTERNS = 100;

/** Null when the source is no workspace. Throws Failure `invalid_config` for a package.json that cannot be read. */
export async function readWorkspace(files: SourceFiles, top: PackageJson): Promise<readonly Member[] | null> {
  const patterns = await patternsOf(files, top);
  if (patterns === null) return null;
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!'));
  const unwanted = new Set(await directories(files, without(patterns, '!')));
  const found = (await directories(files, wanted)).filter((directory) => !unwanted.has(directory));
  const members: Member[] = [];
  for (const directory of found.slice(0, MAX_MEMBERS)) {
    const inside = files.below(directory);
    const packageJson = await readPackageJson(inside);
    members.push({ directory, name: packageJson.text('name') ?? '', files: inside, packageJson });
  }
  return members;
}

async function patternsOf(files: SourceFiles, { content }: PackageJson): Promise<string[] | null> {
  const { workspaces } = content;
  const named = isRecord(workspaces) ? workspaces['packages'] : workspaces;
  if (Array.isArray(named) && named.length > 0) return texts(named);
  const parsed = await files.foreignYaml(PNPM_FILE);
  const packages = isRecord(parsed) ? parsed['packages'] : null;
  // Without packages it only holds settings of pnpm.
  return Array.isArray(packages) ? texts(packages) : null;
}

function texts(values: readonly unknown[]): string[] {
  return values
    .filter((value) => typeof value === 'string')
    .slice(0, MAX_PATTERNS)
    .map((value) => withoutTrailing(value.replace(/^(!?)(?:\.\/)?/, '$1'), '/'));
}

function without(patterns: readonly string[], mark: string): string[] {
  return patterns.filter((pattern) => pattern.startsWith(mark)).map((pattern) => pattern.slice(mark.length));
}

/** Those that have a package.json. `**` stands for one or two levels, which is what people mean by it. */
async function directories(files: SourceFiles, patterns: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const pattern of patterns) {
    const levels = pattern.includes('**') ? ['*', '*/*'].map((each) => pattern.replace(/\*\*/g, each)) : [pattern];
    for (const each of levels) {
      for (const path of await files.findAll(`${each}/package.json`)) {
        if (!path.includes('node_modules/')) found.add(path.slice(0, -'/package.json'.length));
      }
    }
  }
  return [...found].sort();
}

/** The member and what it is built from within the workspace, that before it. */
export function withItsParts(member: Member, members: readonly Member[]): Member[] {
  const ordered: Member[] = [];
  const seen = new Set<Member>();
  const add = (each: Member): void => {
    if (seen.has(each)) return;
    seen.add(each);
    for (const other of members) if (other.name !== '' && each.packageJson.wants(other.name)) add(other);
    ordered.push(each);
  };
  add(member);
  return ordered;
}
