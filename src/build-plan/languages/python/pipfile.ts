/** What Pipenv would install, as requirements: at the locked versions with their hashes, else from Pipfile itself. */
import { isRecord } from '../../../lib/is-record.ts';
import type { PlanProblem } from '../../build-plan.ts';
import { type SourceFiles, valueAt } from '../../source/source-files.ts';
import { normalName } from './required.ts';

interface PipfileRequirements {
  readonly lines: readonly string[];
  readonly isLocked: boolean;
  readonly problem: PlanProblem | null;
}

const MARKERS = [
  'python_version',
  'python_full_version',
  'sys_platform',
  'platform_machine',
  'platform_system',
  'os_name',
];

/** `develop`: the packages for development, too. Throws Failure `invalid_config`. */
export async function pipfileRequirements(files: SourceFiles, develop: boolean): Promise<PipfileRequirements> {
  const pipfile = await files.toml('Pipfile');
  const lock = await files.json('Pipfile.lock');
  const wanted = tables(pipfile, develop ? ['packages', 'dev-packages'] : ['packages']);
  if (lock === undefined) {
    return { lines: [...indexes(pipfile?.['source']), ...lines(wanted)], isLocked: false, problem: null };
  }
  const locked = tables(lock, develop ? ['default', 'develop'] : ['default']);
  const known = new Set(locked.map(([name]) => normalName(name)));
  const missing = wanted.find(([name]) => !known.has(normalName(name)));
  return {
    lines: [...indexes(valueAt(lock, ['_meta', 'sources'])), ...lines(locked)],
    isLocked: true,
    problem: missing === undefined ? null : await misfit(files, missing[0]),
  };
}

function tables(content: unknown, names: readonly string[]): [string, unknown][] {
  return names.flatMap((name) => {
    const table = valueAt(content, [name]);
    return isRecord(table) ? Object.entries(table) : [];
  });
}

async function misfit(files: SourceFiles, name: string): Promise<PlanProblem> {
  const found = await files.findLine('Pipfile', new RegExp(`^\\s*["']?${name.replace(/[^\w-]/g, '.')}["']?\\s*=`));
  return {
    cause: 'invalid_config',
    message: `Pipfile.lock does not fit Pipfile: Pipfile${found === null ? '' : ` line ${found.line}`} asks for ${name}, which is not locked.`,
    hint: 'Run "pipenv lock" in the app, commit Pipfile.lock and push again.',
  };
}

/** Other indexes than PyPI: that is the server's to choose. */
function indexes(sources: unknown): string[] {
  if (!Array.isArray(sources)) return [];
  return sources.flatMap((source) => {
    const url = isRecord(source) ? source['url'] : null;
    const isOther =
      typeof url === 'string' && /^https?:\/\/\S+$/.test(url) && !/^https:\/\/pypi\.(?:python\.)?org\//.test(url);
    return isOther ? [`--extra-index-url ${url}`] : [];
  });
}

function lines(packages: readonly [string, unknown][]): string[] {
  // Installers that are given hashes want one of every package.
  const hashed = packages.every(([, wanted]) => isRecord(wanted) && Array.isArray(wanted['hashes']));
  // A name may be for use and for development.
  return [
    ...new Set(
      packages.map(([name, wanted]) => line(name, wanted, hashed)).map((text) => text.replace(/[\r\n]+/g, ' ')),
    ),
  ];
}

function line(name: string, wanted: unknown, hashed: boolean): string {
  if (typeof wanted === 'string') return `${name}${versions(wanted)}`;
  if (!isRecord(wanted)) return name;
  const text = (key: string): string | null => (typeof wanted[key] === 'string' ? wanted[key] : null);
  const list = (key: string): string[] => (Array.isArray(wanted[key]) ? wanted[key].map(String) : []);
  const path = text('path');
  if (path !== null) return `${wanted['editable'] === true ? '-e ' : ''}${path}`;
  const extras = list('extras').length === 0 ? '' : `[${list('extras').join(',')}]`;
  const conditions = [
    text('markers'),
    ...MARKERS.map((key) => (text(key) === null ? null : `${key} ${text(key) ?? ''}`)),
  ];
  const marked = conditions.filter((each) => each !== null).map((each) => `(${each})`);
  const marker = marked.length === 0 ? '' : ` ; ${marked.join(' and ')}`;
  const git = text('git');
  if (git !== null) {
    const subdirectory = text('subdirectory') === null ? '' : `#subdirectory=${text('subdirectory') ?? ''}`;
    return `${name}${extras} @ git+${git}${text('ref') === null ? '' : `@${text('ref') ?? ''}`}${subdirectory}${marker}`;
  }
  const file = text('file');
  if (file !== null) return `${name}${extras} @ ${file}${marker}`;
  const hashes = (hashed ? list('hashes') : []).map((hash) => ` --hash=${hash}`);
  return `${name}${extras}${versions(text('version') ?? '*')}${marker}${hashes.join('')}`;
}

function versions(text: string): string {
  if (text.trim() === '*' || text.trim() === '') return '';
  return /^\s*[<>=!~]/.test(text) ? text.trim() : `==${text.trim()}`;
}
