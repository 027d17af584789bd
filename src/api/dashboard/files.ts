/**
 * Which files the dashboard consists of: what was compiled, its style sheets, and what browsers need of a few packages. All of them are
 * below one hash of their contents, so that they can be kept for ever and never mix with those of another version.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';

/** As modules import them -> where their packages have them. */
const PACKAGES: Readonly<Record<string, string>> = {
  preact: 'preact/dist/preact.mjs',
  'preact/hooks': 'preact/hooks/dist/hooks.mjs',
  'preact/jsx-runtime': 'preact/jsx-runtime/dist/jsxRuntime.mjs',
  '@preact/signals': '@preact/signals/dist/signals.mjs',
  '@preact/signals-core': '@preact/signals-core/dist/signals-core.mjs',
  uplot: 'uplot/dist/uPlot.esm.js',
  '@xterm/xterm': '@xterm/xterm/lib/xterm.mjs',
  '@xterm/addon-fit': '@xterm/addon-fit/lib/addon-fit.mjs',
};
const PACKAGE_STYLES = ['uplot/dist/uPlot.min.css', '@xterm/xterm/css/xterm.css'];
const PACKAGE_FOLDER = 'packages';
/** What the page loads; everything that it imports, however indirectly, is fetched at once. */
export const ENTRY = 'main.js';
/** Waits for nothing else, and looks after what does not come. */
export const BEGIN = 'begin.js';
export const STYLE = 'style/dashboard.css';

export interface DashboardFiles {
  readonly hash: string;
  /** Name of a package -> name of its file. */
  readonly imports: Readonly<Record<string, string>>;
  /** Names of what has to be there before the first line runs. */
  readonly first: readonly string[];
  /** Null for a name that is none of ours. */
  read(name: string): Promise<Buffer | null>;
}

/** `compiled`: folder of the dashboard in dist/. `packages`: node_modules. */
export async function findFiles(compiled: string, packages: string): Promise<DashboardFiles> {
  const paths = new Map<string, string>();
  for (const file of [...Object.values(PACKAGES), ...PACKAGE_STYLES]) {
    paths.set(posix.join(PACKAGE_FOLDER, file), join(packages, file));
  }
  for (const name of await readdir(compiled, { recursive: true })) {
    if (/\.(?:js|css|svg)$/.test(name)) paths.set(name, join(compiled, name));
  }
  const hash = createHash('sha256');
  const imported = new Map<string, readonly string[]>();
  for (const [name, path] of [...paths].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const bytes = await readFile(path);
    hash.update(`${name}\0${bytes.length}\0`).update(bytes);
    if (!name.startsWith(PACKAGE_FOLDER)) imported.set(name, importsOf(name, bytes.toString()));
  }
  const imports = Object.fromEntries(
    Object.entries(PACKAGES).map(([name, file]) => [name, posix.join(PACKAGE_FOLDER, file)]),
  );
  return {
    hash: hash.digest('hex').slice(0, 16),
    imports,
    first: reachable(imported, imports),
    async read(name) {
      const path = paths.get(name);
      return path === undefined ? null : readFile(path);
    },
  };
}

function importsOf(name: string, code: string): string[] {
  const found = code.matchAll(/^(?:import|export)\s[^'";]*?from\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]/gm);
  return [...found].map(([, from, bare]) => {
    const target = from ?? bare ?? '';
    return target.startsWith('.') ? posix.join(posix.dirname(name), target) : target;
  });
}

/** What the entry imports, but for what is imported when it is needed. */
function reachable(
  imported: ReadonlyMap<string, readonly string[]>,
  imports: Readonly<Record<string, string>>,
): string[] {
  const found = new Set<string>();
  const visit = (name: string): void => {
    const file = imports[name] ?? name;
    if (found.has(file)) return;
    found.add(file);
    for (const next of imported.get(name) ?? []) visit(next);
    // Packages import each other; those that the entry needs are known by what they are.
    if (name === '@preact/signals') for (const next of ['@preact/signals-core', 'preact/hooks']) visit(next);
  };
  visit(ENTRY);
  return [...found];
}
