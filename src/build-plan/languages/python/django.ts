/** Where the parts of a Django project are, and its static files. */
import type { AddedFile, Step } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';

export interface DjangoProject {
  /** `manage.py`, `src/manage.py`. */
  readonly manage: string;
  /** Of manage.py; empty: the top. */
  readonly directory: string;
  /** Python files that may be its settings. */
  readonly settings: readonly string[];
}

const MAX_SETTINGS = 20;
const COLLECT: AddedFile = { from: 'python/collectstatic.py', to: '.tancho/collectstatic.py' };

/** Null when there is no manage.py at the top or in a directory there. */
export async function findDjango(files: SourceFiles): Promise<DjangoProject | null> {
  const manage = await files.find('manage.py', '*/manage.py');
  if (manage === null) return null;
  const directory = manage.slice(0, -'manage.py'.length).replace(/\/$/, '');
  return { manage, directory, settings: await settingsOf(files, manage, directory) };
}

/** `shop.wsgi`, and the file that says so; null: there is none. */
export async function djangoModule(
  files: SourceFiles,
  { directory, settings }: DjangoProject,
  kind: 'wsgi' | 'asgi',
): Promise<{ module: string; from: string } | null> {
  const pattern = new RegExp(`^${kind.toUpperCase()}_APPLICATION\\s*=\\s*["']([\\w.]+)\\.\\w+["']`);
  for (const file of settings) {
    const module = (await files.findLine(file, pattern))?.match[1];
    const path = module === undefined ? null : below(directory, `${module.replaceAll('.', '/')}.py`);
    if (module !== undefined && path !== null && (await files.exists(path))) return { module, from: path };
  }
  const [first = ''] = settings;
  const near = first.split('/').slice(0, -1);
  const places = [near, near.slice(0, -1)].filter((parts) => parts.length > 0).map((parts) => parts.join('/'));
  const candidates = [...places, below(directory, '*'), below(directory, '*/*')].map((place) => `${place}/${kind}.py`);
  const path = await files.find(...candidates);
  if (path === null) return null;
  const inside = directory === '' ? path : path.slice(directory.length + 1);
  return { module: inside.replace(/\.py$/, '').replaceAll('/', '.'), from: path };
}

/** A project that says where its static files are to be collected, wants them collected: the page is without style otherwise. */
export async function collectStatic(
  files: SourceFiles,
  { manage, settings }: DjangoProject,
): Promise<{ readonly files: readonly AddedFile[]; readonly steps: readonly Step[] }> {
  for (const file of settings) {
    if (!(await files.hasLine(file, /^\s*(?:STATIC_ROOT\s*[:=]|["']?staticfiles["']?\s*:\s*\{)/))) continue;
    const name = `python ${manage} collectstatic (${file} has a STATIC_ROOT)`;
    return { files: [COLLECT], steps: [{ name, run: ['{layer}/bin/python', COLLECT.to, manage] }] };
  }
  return { files: [], steps: [] };
}

/** The module that manage.py names first, and what lies beside it. */
async function settingsOf(files: SourceFiles, manage: string, directory: string): Promise<string[]> {
  const named = await files.findLine(manage, /DJANGO_SETTINGS_MODULE["']?\s*,\s*["']([\w.]+)["']/);
  const path = named === null ? null : below(directory, (named.match[1] ?? '').replaceAll('.', '/'));
  const beside = path === null ? [] : [`${path.split('/').slice(0, -1).join('/')}/*.py`];
  const patterns = [
    ...(path === null ? [] : [`${path}.py`, `${path}/*.py`]),
    ...beside.filter((pattern) => /settings|config/.test(pattern) || path?.endsWith('settings') === false),
    ...['*/settings.py', '*/settings/*.py', '*/*/settings.py', '*/*/settings/*.py'].map((each) =>
      below(directory, each),
    ),
  ];
  const found: string[] = [];
  for (const pattern of patterns) {
    if (found.length < MAX_SETTINGS) found.push(...(await files.findAll(pattern)));
  }
  return [...new Set(found)].slice(0, MAX_SETTINGS);
}

function below(directory: string, path: string): string {
  return directory === '' ? path : `${directory}/${path}`;
}
