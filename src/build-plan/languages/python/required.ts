/** Names of the packages that a source asks for, in whatever file. */
import { isRecord } from '../../../lib/is-record.ts';
import { type SourceFiles, valueAt } from '../../source/source-files.ts';

const MAX_LINES = 5_000;
const MAX_LINE = 1_000;
const INCLUDED = /^\s*(-r|--requirement|-c|--constraint)[\s=]*([\w./-]+)/;
const MAX_FILES = 100;

export class Required {
  readonly #names: ReadonlySet<string>;

  constructor(names: Iterable<string>) {
    this.#names = new Set([...names].map(normalName));
  }

  get isEmpty(): boolean {
    return this.#names.size === 0;
  }

  /** The first of these that is asked for; null: none. */
  first(...names: readonly string[]): string | null {
    return names.find((name) => this.#names.has(normalName(name))) ?? null;
  }

  has(name: string): boolean {
    return this.first(name) !== null;
  }
}

/** What PEP 503 makes of a name: `Flask_Cors` and `flask-cors` are one package. */
export function normalName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-');
}

/**
 * Of requirements.txt with the files that it includes, pyproject.toml and Pipfile; an extra counts as `name[extra]`.
 * Throws Failure `invalid_config`.
 */
export async function requiredPackages(files: SourceFiles): Promise<Required> {
  const project = await files.toml('pyproject.toml');
  const listed = valueAt(project, ['project', 'dependencies']);
  const names = [
    ...(await readLists(files)).names,
    ...(Array.isArray(listed) ? listed : []).flatMap((line) => (typeof line === 'string' ? namesOf(line) : [])),
    ...tableNames(valueAt(project, ['tool', 'poetry', 'dependencies'])),
    ...tableNames(valueAt(await files.toml('Pipfile'), ['packages'])),
  ];
  return new Required(names);
}

/** requirements.txt and what it includes, lists of constraints too, in whatever directory. */
export async function requirementFiles(files: SourceFiles): Promise<string[]> {
  return (await readLists(files)).paths;
}

async function readLists(files: SourceFiles): Promise<{ readonly names: string[]; readonly paths: string[] }> {
  const names: string[] = [];
  const lists = [{ path: 'requirements.txt', isWanted: true }];
  for (const { path, isWanted } of lists) {
    const lines = ((await files.beginning(path)) ?? '').split(/\r\n|\n|\r/, MAX_LINES);
    for (const line of lines) {
      const [, option, included] = INCLUDED.exec(line.slice(0, MAX_LINE)) ?? [];
      if (included === undefined) names.push(...(isWanted ? namesOf(line) : []));
      else if (lists.length < MAX_FILES) {
        const other = {
          path: beside(path, included),
          isWanted: isWanted && option !== '-c' && option !== '--constraint',
        };
        const isKnown = lists.some((each) => each.path === other.path && each.isWanted === other.isWanted);
        if (!isKnown) lists.push(other);
      }
    }
  }
  return { names, paths: [...new Set(lists.map(({ path }) => path))] };
}

/** `requirements/prod.txt` and `base.txt` -> `requirements/base.txt`. */
function beside(path: string, included: string): string {
  const parts = path.split('/').slice(0, -1);
  for (const part of included.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

function namesOf(line: string): string[] {
  const found = /^\s*([A-Za-z0-9][\w.-]*)\s*(?:\[([\w\s,.-]*)\])?/.exec(line.slice(0, MAX_LINE));
  const [, name, extras = ''] = found ?? [];
  if (name === undefined) return [];
  const parts = extras.split(',').map((extra) => extra.trim());
  return [name, ...parts.filter((extra) => extra !== '').map((extra) => `${name}[${extra}]`)];
}

function tableNames(table: unknown): string[] {
  if (!isRecord(table)) return [];
  return Object.entries(table).flatMap(([name, wanted]) => {
    const extras = isRecord(wanted) && Array.isArray(wanted['extras']) ? wanted['extras'] : [];
    return [name, ...extras.map((extra) => `${name}[${String(extra)}]`)];
  });
}
