/** Whether Cargo.lock has what the manifests ask for. Cargo goes on without, and so it does on other platforms. */
import { satisfies, validRange } from 'semver';
import { isRecord } from '../../../lib/is-record.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { MAX_RANGE } from '../../versions.ts';
import { lockedPackages } from '../locked-packages.ts';
import { type Crates, table } from './crates.ts';

const LOCK = 'Cargo.lock';

/** For people; null: it fits, or is not there. */
export async function lockWarning(files: SourceFiles, { crates }: Crates): Promise<string | null> {
  const packages = lockedPackages((await files.text(LOCK)) ?? '');
  if (packages.size === 0) return null;
  for (const { manifest, directory } of crates) {
    for (const [key, asked] of Object.entries(table(manifest, 'dependencies') ?? {})) {
      const { package: other, version } = isRecord(asked) ? asked : { package: undefined, version: asked };
      const name = typeof other === 'string' ? other : key;
      const locked = packages.get(name) ?? [];
      const text = typeof version === 'string' ? version : '';
      if (locked.some((each) => text === '' || fits(each, text))) continue;
      const file = directory === '' ? 'Cargo.toml' : `${directory}/Cargo.toml`;
      const found = locked.length === 0 ? `is not in ${LOCK}` : `is ${locked.join(' and ')} in ${LOCK}`;
      return `${file} asks for ${`${name} ${text}`.trim()}, which ${found}: each build takes what fits. To keep one version, run "cargo build" in the app and commit ${LOCK}`;
    }
  }
  return null;
}

/** A plain number is the least of those that are compatible. */
function fits(version: string, asked: string): boolean {
  if (asked.length > MAX_RANGE) return true;
  const range = asked
    .split(',')
    .map((part) => part.trim().replace(/^(?=\d)/, '^'))
    .join(' ');
  return validRange(range) === null || satisfies(version, range);
}
