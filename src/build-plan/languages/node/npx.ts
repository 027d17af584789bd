/** What processes run by npx is installed by the build, where no package of the app does. */
import type { AddedFile, Step, Variable } from '../../build-plan.ts';
import type { PackageJson } from './package-json.ts';
import { withCalledScripts } from './script-lines.ts';

const SCRIPT: AddedFile = { from: 'nodejs/npx-packages.mjs', to: '.tancho/npx-packages.mjs' };
const CALL =
  /(?:^|[\s;&|('"])(?:npx|npm\s+exec)\s+((?:-[\w-]+\s+)*)((?:@[\w.-]+\/)?\w[\w.-]*(?:@[\w.^~-]+)?)(?=[\s;&|)'"]|$)/g;
/** Here the package is not the first word. */
const OTHERWISE = /(?:^|\s)(?:-p|--package|-c|--call|--no|--no-install)(?:\s|$)/;
const MAX_COMMAND = 4_096;

interface NpxPackages {
  readonly files: readonly AddedFile[];
  readonly steps: readonly Step[];
  readonly environment: readonly Variable[];
}

/** `commands`: of the processes. */
export function npxPackages(commands: readonly string[], packageJson: PackageJson, directory: string): NpxPackages {
  const found = new Set<string>();
  for (const line of withCalledScripts(commands, packageJson)) {
    for (const [, options = '', spec = ''] of line.slice(0, MAX_COMMAND).matchAll(CALL)) {
      if (!OTHERWISE.test(options) && !packageJson.wants(spec.replace(/(?<=.)@[^/]*$/, ''))) found.add(spec);
    }
  }
  if (found.size === 0) return { files: [], steps: [], environment: [] };
  const specs = [...found];
  return {
    files: [SCRIPT],
    steps: [{ name: `what npx runs: ${specs.join(' ')}`, run: ['node', SCRIPT.to, directory || '.', ...specs] }],
    // Where npx looks, beside the packages of the app.
    environment: [{ name: 'npm_config_prefix', value: '{code}/.tancho/npx', scope: 'run' }],
  };
}
