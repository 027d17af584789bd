/** Python, and uv, which installs its packages and brings versions that the machine does not have. */
import type { Ask, SharedTool, Tool, Variable } from '../../build-plan.ts';

/** One for all apps; it has a pip beside it. */
export const UV: SharedTool = {
  name: 'uv',
  per: 'python3',
  steps: [
    ['python3', '-m', 'venv', '{directory}'],
    ['{directory}/bin/python', '-m', 'pip', 'install', '--no-input', 'uv>=0.8'],
  ],
};

/** Of what uv prints in one long line, the versions alone. */
const AVAILABLE = `import json, os, subprocess, sys
uv = os.path.join(os.path.dirname(sys.executable), "uv")
asked = [uv, "python", "list", "cpython", "--all-versions", "--only-downloads", "--output-format", "json"]
listed = json.loads(subprocess.run(asked, check=True, stdout=subprocess.PIPE).stdout)
print(json.dumps(sorted(set(each["version"] for each in listed)), indent=0))`;

export const PYTHON: Tool = {
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
  download: {
    otherwise: null,
    by: UV,
    available: ['{uv}/bin/python', '-c', AVAILABLE],
    install: [
      ...['env', 'UV_PYTHON_BIN_DIR={directory}/bin', '{uv}/bin/uv', 'python', 'install', '--default'],
      ...['--install-dir', '{directory}', 'cpython-{version}'],
    ],
    bin: 'bin',
    hint: 'Ask the operator to install that Python, or to set UV_PYTHON_INSTALL_MIRROR for the server where it does not reach github.com; then push again.',
  },
};

/** Settings of the server that uv knows. */
export const UV_SETTINGS = ['UV_DEFAULT_INDEX', 'UV_INDEX', 'UV_PYTHON_INSTALL_MIRROR', 'UV_PYTHON_DOWNLOADS_JSON_URL'];

/** Settings of the server that pip knows. */
export const PIP_SETTINGS = [
  'REQUESTS_CA_BUNDLE',
  'PIP_CERT',
  'PIP_INDEX_URL',
  'PIP_EXTRA_INDEX_URL',
  'PIP_TRUSTED_HOST',
  'PIP_DEFAULT_TIMEOUT',
];

export const ASKED_OF_PIP: readonly Ask[] = ['index-url', 'extra-index-url'].map((setting) => ({
  command: ['python3', '-m', 'pip', 'config', 'get', `global.${setting}`],
  into: { variable: `PIP_${setting.replaceAll('-', '_').toUpperCase()}` },
}));

/** A step's arguments; the script gives uv the settings of pip. */
export function uv(...args: readonly string[]): string[] {
  return ['{uv}/bin/python', '.tancho/uv.py', ...args];
}

export const UV_SCRIPT = { from: 'python/uv.py', to: '.tancho/uv.py' };

export const UV_VARIABLES: readonly Variable[] = [
  { name: 'UV_CACHE_DIR', value: '{downloads}/uv', scope: 'build' },
  // What is installed is made read-only; the cache is not to be. uv.py says when links do no harm.
  { name: 'UV_LINK_MODE', value: 'copy', scope: 'build' },
  // Units cannot write what they compile.
  { name: 'UV_COMPILE_BYTECODE', value: '1', scope: 'build' },
  // As pip does: the best version of all indexes.
  { name: 'UV_INDEX_STRATEGY', value: 'unsafe-best-match', scope: 'build' },
  { name: 'UV_PYTHON_DOWNLOADS', value: 'never', scope: 'build' },
  { name: 'UV_PROJECT_ENVIRONMENT', value: '{layer}', scope: 'build' },
  { name: 'UV_SYSTEM_CERTS', value: '1', scope: 'build' },
  { name: 'UV_NO_PROGRESS', value: '1', scope: 'build' },
];
