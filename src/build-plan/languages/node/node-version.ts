/** Which Node a source asks for. */
import { subset, validRange } from 'semver';
import type { PlanProblem, WantedVersion } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { MAX_RANGE } from '../../versions.ts';
import type { PackageJson } from './package-json.ts';

/** Names of the lines with long support, as nvm knows them. */
const LONG_SUPPORT: Readonly<Record<string, string>> = {
  'lts/*': '>=22 <23 || >=24 <25 || >=26 <27',
  'lts/hydrogen': '18',
  'lts/iron': '20',
  'lts/jod': '22',
  'lts/krypton': '24',
};
const ANY = ['node', 'stable', 'latest', 'current', 'system'];
const VERSION_FILES: readonly { readonly file: string; readonly line: RegExp }[] = [
  { file: '.nvmrc', line: /^\s*([^\s#]+)/ },
  { file: '.node-version', line: /^\s*([^\s#]+)/ },
  { file: '.tool-versions', line: /^\s*(?:nodejs|node)\s+([^\s#]+)/ },
];

interface NodeVersion {
  readonly wanted: WantedVersion | null;
  readonly problem: PlanProblem | null;
  readonly notes: readonly string[];
}

/**
 * `engines.node` says what the app can run on, the files of version managers which of these it is developed with: such a file counts
 * where it stays within the engines. `around`: the top of the workspace that the package is part of, which counts after it.
 */
export async function nodeVersion(
  files: SourceFiles,
  packageJson: PackageJson,
  around?: { readonly files: SourceFiles; readonly packageJson: PackageJson },
): Promise<NodeVersion> {
  const top = around ?? { files, packageJson };
  const engines = enginesOf(packageJson) ?? enginesOf(top.packageJson);
  if (engines !== null && 'cause' in engines) return { wanted: null, problem: engines, notes: [] };
  const notes: string[] = [];
  const isPart = top.files !== files;
  const named =
    (isPart ? await namedVersion(files, packageJson, notes) : null) ??
    (await namedVersion(top.files, top.packageJson, notes));
  if (named !== null && engines !== null && !subset(named.range, engines.range)) {
    notes.push(
      `${named.from} asks for Node ${named.text}, which engines.node in package.json (${engines.text}) rules out`,
    );
    return { wanted: engines, problem: null, notes };
  }
  return { wanted: named ?? engines, problem: null, notes };
}

function enginesOf({ content }: PackageJson): WantedVersion | PlanProblem | null {
  const engines = content['engines'];
  const text: unknown = typeof engines === 'object' && engines !== null && 'node' in engines ? engines.node : null;
  if (text === null || text === '') return null;
  const range = typeof text === 'string' && text.length <= MAX_RANGE ? validRange(text) : null;
  if (range !== null && typeof text === 'string') return { range, text, from: 'engines.node in package.json' };
  return {
    cause: 'invalid_config',
    message: `package.json: engines.node is ${JSON.stringify(text).slice(0, MAX_RANGE)}, which is not a range of versions.`,
    hint: 'Write for example ">=20" or "22.x" as engines.node in package.json and push again.',
  };
}

async function namedVersion(
  files: SourceFiles,
  packageJson: PackageJson,
  notes: string[],
): Promise<WantedVersion | null> {
  for (const { file, line } of VERSION_FILES) {
    const text = (await files.findLine(file, line))?.match[1]?.slice(0, 80);
    if (text === undefined) continue;
    const version = text.toLowerCase();
    if (ANY.includes(version)) return null;
    const range = validRange(LONG_SUPPORT[version] ?? version.replace(/^node[-@]?v?/, ''));
    if (range !== null) return { range, text, from: file };
    notes.push(`${file} asks for "${text}", which is no version of Node that is known here: it is passed over`);
  }
  const volta = packageJson.text('volta.node');
  const range = volta === null ? null : validRange(volta.slice(0, MAX_RANGE));
  return volta === null || range === null ? null : { range, text: volta, from: 'volta.node in package.json' };
}
