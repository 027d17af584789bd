/** Which version of its package manager a source asks for beside `packageManager`: package managers refuse to work as another one. */
import { intersects, Range, validRange } from 'semver';
import { isRecord } from '../../../lib/is-record.ts';
import type { WantedVersion } from '../../build-plan.ts';
import { type SourceFiles, valueAt } from '../../source/source-files.ts';
import { MAX_RANGE } from '../../versions.ts';
import type { PackageJson } from './package-json.ts';

interface DeveloperEngine {
  readonly name: string;
  readonly version: string | null;
  readonly onFail: string;
}

/** Those in `devEngines.packageManager`, one or a list: any of them will do. */
export function developerManagers({ content }: PackageJson): readonly DeveloperEngine[] {
  const listed = [valueAt(content, ['devEngines', 'packageManager'])].flat() as readonly unknown[];
  return listed.filter(isRecord).flatMap(({ name, version, onFail }) => {
    if (typeof name !== 'string') return [];
    const said = typeof version === 'string' ? version : null;
    return [{ name, version: said, onFail: typeof onFail === 'string' ? onFail : 'error' }];
  });
}

/** npm runs nothing, no script either, for a package that is only for others. */
export function isNpmRefused(packageJson: PackageJson): boolean {
  const managers = developerManagers(packageJson);
  // In a list the onFail of the last entry counts.
  const onFail = managers.at(-1)?.onFail ?? 'ignore';
  return ['error', 'download'].includes(onFail) && managers.every(({ name }) => name !== 'npm');
}

/** Of .tool-versions, volta, engines or devEngines; null: none says. */
export async function askedManager(
  files: SourceFiles,
  packageJson: PackageJson,
  program: string,
): Promise<WantedVersion | null> {
  const tool = (await files.findLine('.tool-versions', new RegExp(`^\\s*${program}\\s+([^\\s#]+)`)))?.match[1] ?? null;
  const said: readonly (readonly [string | null, string])[] = [
    [tool, '.tool-versions'],
    [packageJson.text(`volta.${program}`), `volta.${program} in package.json`],
    [packageJson.text(`engines.${program}`), `engines.${program} in package.json`],
    [
      developerManagers(packageJson).find(({ name }) => name === program)?.version ?? null,
      'devEngines.packageManager in package.json',
    ],
  ];
  for (const [text, from] of said) {
    const range = text === null || text.length > MAX_RANGE ? null : validRange(text);
    if (text !== null && range !== null && range !== '*') return { range, text, from };
  }
  return null;
}

/** What fits both; where nothing does, what is asked for. */
export function within(asked: WantedVersion | null, lock: WantedVersion | null): WantedVersion | null {
  if (asked === null || lock === null) return asked ?? lock;
  if (!intersects(asked.range, lock.range)) return asked;
  const both = new Range(asked.range).set.flatMap((one) =>
    new Range(lock.range).set.map((other) => [...one, ...other].map(({ value }) => value).join(' ')),
  );
  return { ...asked, range: both.filter((range) => validRange(range) !== null).join(' || ') };
}
