/** Files written for other platforms: what is plain of them is honoured, the rest is named in one line. */
import { isRecord } from '../../lib/is-record.ts';
import { type SourceFiles, valueAt } from '../source/source-files.ts';

export interface OtherPlatforms {
  /** What starts the app; null: none of them says so. */
  readonly start: { readonly command: string; readonly from: string } | null;
  /** Runs once per new version. */
  readonly release: string | null;
  /** Asked for health; null: none. */
  readonly healthPath: string | null;
  /** The directory of a site, and the page for unknown paths. */
  readonly site: { readonly root: string | null; readonly fallback: string | null };
  readonly notes: readonly string[];
}

interface Said {
  readonly file: string;
  readonly start?: unknown;
  readonly build?: unknown;
  readonly release?: unknown;
  readonly health?: unknown;
  /** Other keys that mean something there. */
  readonly more?: readonly string[];
}

const PATH = /^\/[\w./~-]*$/;
const DIRECTORY = /^(?!.*\.\.)[\w.-][\w./-]*$/;

/** The first file that says something counts. Throws Failure `invalid_config` for those in JSON and TOML that cannot be read. */
export async function readOtherPlatforms(files: SourceFiles): Promise<OtherPlatforms> {
  const asked = [railway, render, railpack, nixpacks, fly].map((read) => read(files));
  const all = (await Promise.all(asked)).filter((said) => said !== null);
  const first = (key: 'start' | 'release' | 'health'): { value: string; file: string } | null => {
    for (const { file, ...said } of all) {
      const value = said[key];
      if (typeof value === 'string' && value.trim() !== '' && value.length <= 4_096)
        return { value: value.trim(), file };
    }
    return null;
  };
  const start = first('start');
  const health = first('health')?.value ?? null;
  const notes = all.flatMap(({ file, build, more = [] }) => {
    const unread = [...(build === undefined ? [] : ['its build command']), ...more];
    return unread.length === 0
      ? []
      : [
          `${file}: ${unread.join(', ')} ${unread.length === 1 ? 'is' : 'are'} not followed; a build command is set with: tancho app update --build-command`,
        ];
  });
  const hasProcfile = await files.exists('Procfile');
  if (!hasProcfile && (await files.exists('Procfile.dev')))
    notes.push('Procfile.dev is for development and is not read; what starts the app here is in a Procfile');
  if (await files.exists('project.toml')) notes.push('project.toml: its buildpacks and variables are not followed');
  return {
    start: start && { command: start.value, from: start.file },
    release: first('release')?.value ?? null,
    // The first page need not answer with 200.
    healthPath: health !== null && health !== '/' && PATH.test(health) ? health : null,
    site: (await staticJson(files)) ?? (await staticfile(files)) ?? { root: null, fallback: null },
    notes,
  };
}

async function railway(files: SourceFiles): Promise<Said | null> {
  for (const [file, content] of [
    ['railway.json', await files.json('railway.json')],
    ['railway.toml', await files.toml('railway.toml')],
  ] as const) {
    if (content === undefined) continue;
    const before = valueAt(content, ['deploy', 'preDeployCommand']);
    return {
      file,
      start: valueAt(content, ['deploy', 'startCommand']),
      release: Array.isArray(before) ? before.join(' && ') : before,
      health: valueAt(content, ['deploy', 'healthcheckPath']),
      build: valueAt(content, ['build', 'buildCommand']),
    };
  }
  return null;
}

/** Of a blueprint with several web services none is known to be the app. */
async function render(files: SourceFiles): Promise<Said | null> {
  const file = 'render.yaml';
  if (!(await files.exists(file))) return null;
  const services = valueAt(await files.foreignYaml(file), ['services']);
  const webs = (Array.isArray(services) ? services : []).filter(
    (service) =>
      isRecord(service) && service['type'] === 'web' && ![service['env'], service['runtime']].includes('static'),
  );
  const [web] = webs as Record<string, unknown>[];
  if (web === undefined || webs.length > 1) return { file, more: webs.length > 1 ? ['its several services'] : [] };
  const isPart = typeof web['rootDir'] === 'string' && web['rootDir'] !== '' && web['rootDir'] !== '.';
  if (isPart)
    return { file, more: [`rootDir (here: tancho app update --root ${String(web['rootDir']).slice(0, 100)})`] };
  return {
    file,
    start: web['startCommand'] ?? web['dockerCommand'],
    release: web['preDeployCommand'],
    health: web['healthCheckPath'],
    build: web['buildCommand'],
  };
}

async function railpack(files: SourceFiles): Promise<Said | null> {
  const file = 'railpack.json';
  const content = await files.foreignJson(file);
  if (content === null) return null;
  const more = ['packages', 'buildAptPackages', 'steps'].filter((key) => valueAt(content, [key]) !== undefined);
  return { file, start: valueAt(content, ['deploy', 'startCommand']), more };
}

async function nixpacks(files: SourceFiles): Promise<Said | null> {
  const file = 'nixpacks.toml';
  const content = await files.toml(file);
  if (content === undefined) return null;
  const phases = valueAt(content, ['phases']);
  const more = Object.keys(isRecord(phases) ? phases : {})
    .slice(0, 10)
    .map((name) => `the phase ${name}`);
  return { file, start: valueAt(content, ['start', 'cmd']), more };
}

async function fly(files: SourceFiles): Promise<Said | null> {
  const file = 'fly.toml';
  const content = await files.toml(file);
  if (content === undefined) return null;
  const more = ['mounts', 'env', 'vm'].filter((key) => content[key] !== undefined);
  return {
    file,
    start: valueAt(content, ['processes', 'app']),
    release: valueAt(content, ['deploy', 'release_command']),
    more,
  };
}

/** Of Heroku's buildpack for sites: `{ "root": "dist/", "routes": { "/**": "index.html" } }`. */
async function staticJson(files: SourceFiles): Promise<OtherPlatforms['site'] | null> {
  const content = await files.json('static.json');
  if (content === undefined) return null;
  const routes = valueAt(content, ['routes']);
  return site(valueAt(content, ['root']), isRecord(routes) ? routes['/**'] : undefined);
}

/** Of Cloud Foundry, and read by Nixpacks and Railpack: `root: dist`, `pushstate: enabled`, `index_fallback: true`. */
async function staticfile(files: SourceFiles): Promise<OtherPlatforms['site'] | null> {
  const content = await files.foreignYaml('Staticfile');
  if (!isRecord(content)) return null;
  const hasFallback = content['pushstate'] === 'enabled' || content['index_fallback'] === true;
  return site(content['root'], hasFallback ? 'index.html' : undefined);
}

function site(root: unknown, fallback: unknown): OtherPlatforms['site'] {
  const directory = typeof root === 'string' ? root.replace(/^\.?\//, '').replace(/\/$/, '') : '';
  return {
    root: DIRECTORY.test(directory) ? directory : null,
    fallback: typeof fallback === 'string' && DIRECTORY.test(fallback) ? fallback : null,
  };
}
