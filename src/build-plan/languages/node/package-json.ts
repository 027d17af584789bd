/** package.json, as far as it decides how an app is built. */
import { Failure } from '../../../domain/failure.ts';
import { isRecord } from '../../../lib/is-record.ts';
import { type SourceFiles, valueAt } from '../../source/source-files.ts';

export interface PackageJson {
  readonly isThere: boolean;
  /** Those that are texts. */
  readonly scripts: Readonly<Record<string, string>>;
  /** Name -> range. */
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly hasWorkspaces: boolean;
  /** True when one of these is there and not empty. */
  has(...keys: readonly string[]): boolean;
  /** A text by dotted path; null when there is none. */
  text(key: string): string | null;
  /** Among the packages it wants, for development or not. */
  wants(name: string): boolean;
  readonly content: Readonly<Record<string, unknown>>;
}

/** Of a source without package.json: one that says nothing. Throws Failure `invalid_config`. */
export async function readPackageJson(files: SourceFiles): Promise<PackageJson> {
  const json = await files.json('package.json');
  if (json !== undefined && !isRecord(json)) {
    throw new Failure('invalid_config', 'package.json must be an object in braces.', {
      hint: 'Correct package.json and push again.',
    });
  }
  const content = json ?? {};
  const dependencies = texts(content['dependencies']);
  const devDependencies = texts(content['devDependencies']);
  return {
    isThere: json !== undefined,
    content,
    scripts: texts(content['scripts']),
    dependencies,
    devDependencies,
    hasWorkspaces: !isEmpty(content['workspaces']),
    has: (...keys) => keys.some((key) => !isEmpty(valueAt(content, key.split('.')))),
    text: (key) => {
      const value = valueAt(content, key.split('.'));
      return typeof value === 'string' && value.trim() !== '' ? value : null;
    },
    wants: (name) => name in dependencies || name in devDependencies,
  };
}

function texts(value: unknown): Record<string, string> {
  const entries = isRecord(value) ? Object.entries(value) : [];
  const found = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  // A key such as __proto__ is a name like any other.
  return Object.assign(Object.create(null) as Record<string, string>, Object.fromEntries(found));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
