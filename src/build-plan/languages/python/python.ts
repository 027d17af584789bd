/** Python, with requirements.txt, pyproject.toml (uv, Poetry) or Pipfile. */
import { type AppDeclaration, firstSign, type Language, type PlanParts } from '../../language.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { frontEnd, NO_FRONT_END, optionalFrontEnd } from '../front-end.ts';
import { NETWORK_VARIABLES } from '../network-variables.ts';
import { calledRunners, type Runner, RUNNERS } from './called-program.ts';
import { collectStatic, findDjango } from './django.ts';
import { mkdocs } from './mkdocs.ts';
import { needsFrontEnd } from './needs-front-end.ts';
import { djangoNotListed } from './not-listed.ts';
import { installedPackages, MANIFESTS } from './packages.ts';
import { pythonVersion } from './python-version.ts';
import { requiredPackages } from './required.ts';
import { askForProcess, startOf } from './start.ts';
import { ASKED_OF_PIP, PIP_SETTINGS, PYTHON, UV, UV_SETTINGS, UV_VARIABLES } from './tools.ts';

const PROGRAMS = ['manage.py', 'wsgi.py', 'app.py', 'main.py', 'bot.py'];
const DOCUMENTATION = ['mkdocs.yml', 'mkdocs.yaml'];

export const python: Language = {
  name: 'python',
  description: 'Python, with requirements.txt, pyproject.toml (uv, Poetry) or Pipfile',
  example: 'gunicorn --bind 0.0.0.0:$PORT app:app',
  signs: [...MANIFESTS, ...PROGRAMS, ...DOCUMENTATION.slice(0, 1)],
  starts: /\bpython[\d.]*\s+(?:-[a-zA-Z]+\s+)*([\w./-]+\.py)\b/,
  tools: [PYTHON],
  inherit: [...NETWORK_VARIABLES, ...UV_SETTINGS, ...PIP_SETTINGS],
  ask: ASKED_OF_PIP,
  detect: (files) => firstSign(files, { manifest: MANIFESTS, program: PROGRAMS, page: DOCUMENTATION }),
  plan,
};

const LOCKS_OF: Readonly<Record<Runner, readonly string[]>> = {
  uv: ['uv.lock'],
  poetry: ['poetry.lock'],
  pipenv: ['Pipfile'],
};

/** Those that people of such a project call, and those that its processes call. */
async function runnersOf(files: SourceFiles, { processes }: AppDeclaration): Promise<Runner[]> {
  const called = calledRunners(Object.values(processes ?? {}));
  const locks = await Promise.all(RUNNERS.map((name) => files.find(...LOCKS_OF[name])));
  return RUNNERS.filter((name, index) => called.includes(name) || locks[index] !== null);
}

async function plan(files: SourceFiles, asked: AppDeclaration): Promise<PlanParts> {
  const { wanted, note } = await pythonVersion(files);
  const required = await requiredPackages(files);
  const django = await findDjango(files);
  const start = await startOf(files, required, django, asked);
  const isApp = Object.keys(start.processes).length > 0 || start.problems.length > 0;
  const pages = isApp ? null : await mkdocs(files, required, asked);
  const unknown = isApp || pages !== null || asked.processes !== null ? [] : await askForProcess(files, required);
  const packages = await installedPackages(files, {
    adds: [...start.adds, ...(pages?.adds ?? [])],
    keepsDevelopment: asked.keepsDevelopment,
    hasSetuptools: required.has('setuptools'),
    runners: (await runnersOf(files, asked)).filter((name) => !required.has(name)),
  });
  const unlisted = django === null || asked.buildsItself ? [] : await djangoNotListed(files, django);
  const collected = django === null ? null : await collectStatic(files, django);
  const built = (await needsFrontEnd(files, required, django)) ? frontEnd : optionalFrontEnd;
  const front = isApp || asked.processes !== null ? await built(files, asked) : NO_FRONT_END;
  return {
    title: pages === null ? start.title : 'MkDocs',
    tools: [{ ...PYTHON, wanted }, ...front.tools, ...(pages?.tools ?? [])],
    sharedTools: [UV],
    environment: [
      { name: 'PYTHONUNBUFFERED', value: '1' },
      { name: 'VIRTUAL_ENV', value: '{layer}' },
      // Code in src/ is found without being installed.
      ...((await files.exists('src')) ? [{ name: 'PYTHONPATH', value: '{code}:{code}/src' }] : []),
      ...UV_VARIABLES,
      { name: 'PIP_CACHE_DIR', value: '{downloads}/pip', scope: 'build' },
      { name: 'PIP_NO_INPUT', value: '1', scope: 'build' },
      { name: 'PIP_DISABLE_PIP_VERSION_CHECK', value: '1', scope: 'build' },
      { name: 'PIP_ROOT_USER_ACTION', value: 'ignore', scope: 'build' },
      { name: 'PIP_PROGRESS_BAR', value: 'off', scope: 'build' },
      ...front.environment,
      ...(pages?.environment ?? []),
    ],
    files: [...packages.files, ...(collected?.files ?? []), ...(pages?.files ?? [])],
    dependencies: [packages.set, ...front.dependencies],
    steps: [
      ...front.steps.slice(0, -1),
      // They may be in node_modules.
      ...(collected?.steps ?? []),
      ...(pages?.steps ?? []),
      ...front.steps.slice(-1),
    ],
    site: pages?.site ?? null,
    processes: pages?.processes ?? start.processes,
    notes: [
      ...(note === null ? [] : [note]),
      ...packages.notes,
      ...start.notes,
      ...front.notes,
      ...(pages?.notes ?? []),
    ],
    warnings: front.warnings,
    problems: [...unlisted, ...packages.problems, ...start.problems, ...unknown, ...front.problems],
  };
}
