/** Python, with requirements.txt or pyproject.toml. */
import type { DependencySet, PlannedProcess, SharedTool, Step, Tool } from '../../build-plan.ts';
import { type Asked, firstSign, type Language, type PlanParts } from '../../language.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { NETWORK_VARIABLES } from '../network-variables.ts';
import { pythonVersion } from './python-version.ts';

const PYTHON: Tool = {
  program: 'python3',
  minimum: '3.9.0',
  check: ['-c', 'import venv, ensurepip'],
  runtime: true,
  install: {
    'apt-get': 'apt-get install -y python3 python3-venv',
    apk: 'apk add python3',
    dnf: 'dnf install -y python3',
    brew: 'brew install python',
  },
  others: ['python3.15', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3.10', 'python3.9'],
};
/** One pip for all apps: a virtual environment without its own pip is made in a fraction of the time. */
const PIP: SharedTool = {
  name: 'pip',
  per: 'python3',
  steps: [
    ['python3', '-m', 'venv', '{directory}'],
    ['{directory}/bin/python', '-m', 'pip', 'install', '--no-input', 'pip>=22.3'],
  ],
};
const MANIFESTS = ['requirements.txt', 'pyproject.toml'];
const PROGRAMS = ['manage.py', 'wsgi.py', 'app.py', 'main.py'];

export const python: Language = {
  name: 'python',
  description: 'Python, with requirements.txt or pyproject.toml',
  example: 'gunicorn --bind 0.0.0.0:$PORT app:app',
  signs: [...MANIFESTS, ...PROGRAMS],
  tools: [PYTHON],
  inherit: [
    ...NETWORK_VARIABLES,
    ...[
      'REQUESTS_CA_BUNDLE',
      'PIP_CERT',
      'PIP_INDEX_URL',
      'PIP_EXTRA_INDEX_URL',
      'PIP_TRUSTED_HOST',
      'PIP_DEFAULT_TIMEOUT',
    ],
  ],
  ask: ['index-url', 'extra-index-url'].map((setting) => ({
    command: ['python3', '-m', 'pip', 'config', 'get', `global.${setting}`],
    into: { variable: `PIP_${setting.replaceAll('-', '_').toUpperCase()}` },
  })),
  detect: (files) => firstSign(files, { manifest: MANIFESTS, program: PROGRAMS }),
  plan,
};

async function plan(files: SourceFiles, _asked: Asked): Promise<PlanParts> {
  const { wanted, note } = await pythonVersion(files);
  const notes = note === null ? [] : [note];
  const from = (await files.find(...MANIFESTS)) as 'requirements.txt' | 'pyproject.toml' | null;
  if (from === null && (await files.exists('Pipfile'))) {
    notes.push('Pipfile is not read, no packages are installed; write requirements.txt from it (pipenv requirements)');
  }
  return {
    title: 'Python',
    tools: [{ ...PYTHON, wanted }],
    sharedTools: [PIP],
    environment: [
      { name: 'PYTHONUNBUFFERED', value: '1' },
      { name: 'VIRTUAL_ENV', value: '{layer}' },
      // Code in src/ is found without being installed.
      ...((await files.exists('src')) ? [{ name: 'PYTHONPATH', value: '{code}:{code}/src' }] : []),
      { name: 'PIP_CACHE_DIR', value: '{downloads}/pip', scope: 'build' },
      { name: 'PIP_NO_INPUT', value: '1', scope: 'build' },
      { name: 'PIP_DISABLE_PIP_VERSION_CHECK', value: '1', scope: 'build' },
      { name: 'PIP_ROOT_USER_ACTION', value: 'ignore', scope: 'build' },
      { name: 'PIP_PROGRESS_BAR', value: 'off', scope: 'build' },
    ],
    files: from === 'pyproject.toml' ? [{ from: 'python/requirements.py', to: '.tancho/requirements.py' }] : [],
    dependencies: [await packages(files, from)],
    steps: await djangoSteps(files),
    processes: await web(files),
    notes,
  };
}

async function packages(
  files: SourceFiles,
  from: 'requirements.txt' | 'pyproject.toml' | null,
): Promise<DependencySet> {
  const pip = [
    '{pip}/bin/python',
    '-m',
    'pip',
    '--python',
    '{layer}/bin/python',
    'install',
    '--no-warn-script-location',
  ];
  const local = /^\s*(-e|--editable|\.|file:)/;
  const steps: Step[] = [{ name: 'python3 -m venv', run: ['python3', '-m', 'venv', '--without-pip', '{layer}'] }];
  if (from === 'pyproject.toml') {
    steps.push(
      { name: 'reading pyproject.toml', run: ['{pip}/bin/python', '.tancho/requirements.py', '.tancho'] },
      {
        name: 'pip install (pyproject.toml)',
        run: [...pip, '--requirement', '.tancho/requirements.txt', '--constraint', '.tancho/constraints.txt'],
      },
    );
  } else if (from !== null) {
    steps.push({ name: 'pip install (requirements.txt)', run: [...pip, '--requirement', 'requirements.txt'] });
  }
  return {
    name: 'Python packages',
    keep: { kind: 'layer' },
    // Packages from the source itself belong to this one version of the source.
    neverKept: (await files.hasLine('requirements.txt', local))
      ? 'requirements.txt names packages of the source itself'
      : null,
    key: {
      files: [
        ...['requirements*.txt', 'requirements/*.txt', 'constraints*.txt', 'pyproject.toml', 'poetry.lock', 'uv.lock'],
      ],
    },
    steps,
  };
}

/** Django serves hashed static files only when they were collected; a project that sets where to, wants it. */
async function djangoSteps(files: SourceFiles): Promise<Step[]> {
  if (!(await files.exists('manage.py')) || !(await files.hasLine('*/settings.py', /^STATIC_ROOT\s*=/))) return [];
  return [
    {
      name: 'python manage.py collectstatic',
      run: ['{layer}/bin/python', 'manage.py', 'collectstatic', '--noinput', '--verbosity', '1'],
    },
  ];
}

async function web(files: SourceFiles): Promise<Record<string, PlannedProcess>> {
  const hasGunicorn =
    (await files.hasLine('requirements.txt', /^\s*gunicorn\b/i)) ||
    (await files.hasLine('pyproject.toml', /^[^#]*\bgunicorn\b/));
  if (!hasGunicorn) return {};
  const served = (module: string, from: string): Record<string, PlannedProcess> => ({
    web: { command: `gunicorn --bind 0.0.0.0:$PORT ${module}`, from },
  });
  const django = (await files.exists('manage.py')) ? await files.find('*/wsgi.py') : null;
  if (django !== null) return served(django.replace(/\.py$/, '').replaceAll('/', '.'), django);
  if (await files.hasLine('wsgi.py', /^application\s*=/)) return served('wsgi', 'wsgi.py');
  if (await files.hasLine('wsgi.py', /^app\s*=/)) return served('wsgi:app', 'wsgi.py');
  return (await files.hasLine('app.py', /^app\s*=/)) ? served('app:app', 'app.py') : {};
}
