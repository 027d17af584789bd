/** Files that are served as they are. */
import type { PlanProblem } from '../../build-plan.ts';
import { type AppDeclaration, firstSign, type Language, type PlanParts } from '../../language.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { serveSite, SITE_NODE, SITE_OPTIONS } from './site-server.ts';

/** What a generator made is preferred to what it was made from. */
const ROOTS = ['dist', 'build', '_site', '.', 'site', 'public'];
const PAGES = [
  'index.html',
  'public/index.html',
  'dist/index.html',
  'build/index.html',
  '_site/index.html',
  'site/index.html',
];
/** They name the directory of the pages. */
const SETTINGS = ['Staticfile', 'static.json'];
/** Pages that a browser cannot use before a build has replaced these. */
const UNBUILT = [
  /<script[^>]+src=["']\/?(?:\.\/)?src\/[^"']+\.(?:tsx?|jsx|vue|svelte)["']/i,
  /<script[^>]+type=["']module["'][^>]+src=["']\/src\//i,
  /%PUBLIC_URL%|<%=\s*(?:BASE_URL|htmlWebpackPlugin)/,
];

export const staticFiles: Language = {
  name: 'static',
  description: 'Static files (HTML, CSS, images) served as they are',
  example: 'node .tancho/server.mjs',
  signs: [...PAGES, ...SETTINGS],
  tools: [SITE_NODE],
  options: SITE_OPTIONS,
  detect: (files) => firstSign(files, { page: [...PAGES, ...SETTINGS] }),
  plan,
};

async function plan(files: SourceFiles, asked: AppDeclaration): Promise<PlanParts> {
  const served = serveSite(
    {
      roots: ROOTS,
      fallback: null,
      from: 'the platform',
      otherwise: {
        cause: 'no_process',
        message: 'There is no index.html to serve.',
        hint: `Put it at the top of the repository or in ${ROOTS.filter((root) => root !== '.').join(', ')}, or name the directory in tancho.yaml: static: { root: <directory> }`,
      },
    },
    asked,
  );
  const unbuilt = asked.buildsItself || asked.processes !== null ? null : await unbuiltPage(files, asked);
  return {
    title: 'static files',
    tools: [SITE_NODE],
    ...served,
    problems: unbuilt === null ? [] : [unbuilt],
    warnings: (await buildIsNotRun(files, asked)) && unbuilt === null ? [NOT_RUN] : [],
  };
}

const NOT_RUN =
  'package.json has a build script, which this platform does not run; the platform nodejs does, or hooks.build in tancho.yaml (docs/platforms.md)';

async function buildIsNotRun(files: SourceFiles, asked: AppDeclaration): Promise<boolean> {
  if (asked.buildsItself || asked.options['STATIC_ROOT'] !== undefined) return false;
  if ((await files.jsonValue('package.json', 'scripts.build')) === undefined) return false;
  return (await files.find('dist/index.html', 'build/index.html', '_site/index.html', 'site/index.html')) === null;
}

async function unbuiltPage(files: SourceFiles, { app, options }: AppDeclaration): Promise<PlanProblem | null> {
  const root = options['STATIC_ROOT'];
  const roots = root === undefined ? ROOTS : [root];
  const page = await files.find(...roots.map((each) => (each === '.' ? 'index.html' : `${each}/index.html`)));
  if (page === null) return null;
  for (const pattern of UNBUILT) {
    const found = await files.findLine(page, pattern);
    if (found === null) continue;
    const isPackage = await files.exists('package.json');
    const hint = isPackage
      ? `Let the platform build it and push again: tancho app update ${app} --platform nodejs   or add the commands as hooks.build to tancho.yaml`
      : 'Commit the package.json with whose packages it is built, or what the build makes, in dist; then push again.';
    return {
      cause: 'no_platform',
      message: `${page} line ${found.line} needs a build, and the platform static does not run any: the page would stay blank.`,
      hint,
    };
  }
  return null;
}
