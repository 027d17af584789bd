/** Development packages that the app runs with: they must not be removed after the build. */
import type { SourceFiles } from '../../source/source-files.ts';
import type { PackageJson } from './package-json.ts';
import { withCalledScripts } from './script-lines.ts';

/** Programs that are called otherwise than the package they come from. */
const PACKAGE_OF: Readonly<Record<string, string>> = {
  nest: '@nestjs/cli',
  tsc: 'typescript',
  ng: '@angular/cli',
  'babel-node': '@babel/node',
  'ts-node-esm': 'ts-node',
  'ts-node-script': 'ts-node',
  tsnd: 'ts-node-dev',
  nodemon: 'nodemon',
  'remix-serve': '@remix-run/serve',
  'react-router-serve': '@react-router/serve',
  'run-s': 'npm-run-all',
  'run-p': 'npm-run-all',
  sequelize: 'sequelize-cli',
  'mikro-orm': '@mikro-orm/cli',
  dotenv: 'dotenv-cli',
  swc: '@swc/cli',
  'env-cmd': 'env-cmd',
};
const MAX_COMMAND = 4_096;

/** Why they stay: `"npm start" runs nest, from the development package @nestjs/cli`; null when they may go. */
export function whyDevelopmentStays(commands: readonly string[], packageJson: PackageJson): string | null {
  for (const command of commands) {
    const lines = withCalledScripts([command], packageJson);
    const { build } = packageJson.scripts;
    // Whatever programs it runs, they may take any of them.
    if (build !== undefined && lines.includes(build)) return `"${command}" runs the script build`;
    for (const line of lines) {
      for (const word of line.slice(0, MAX_COMMAND).split(/[\s;&|()'"=,]+/)) {
        const name = developmentPackage(word, packageJson);
        if (name !== null) return `"${command}" runs ${programOf(word)}, from the development package ${name}`;
      }
    }
  }
  return null;
}

/** Next.js reads its settings at every start; written in TypeScript, they take that, and where it is not there, it is installed then. */
export async function whyTypescriptStays(
  files: SourceFiles,
  commands: readonly string[],
  packageJson: PackageJson,
): Promise<string | null> {
  const settings = await files.find('next.config.ts', 'next.config.mts');
  if (settings === null || developmentPackage('typescript', packageJson) === null) return null;
  const lines = withCalledScripts(commands, packageJson);
  const isRead = lines.some((line) => /(?:^|[\s/])next\s+start\b/.test(line.slice(0, MAX_COMMAND)));
  return isRead ? `"next start" reads ${settings} with typescript, a development package` : null;
}

function programOf(word: string): string {
  return word.replace(/^(?:\.\/)?node_modules\/(?:\.bin\/)?/, '');
}

/** `tsx`, `ts-node/register`, `./node_modules/.bin/nest`. */
function developmentPackage(word: string, { devDependencies, dependencies }: PackageJson): string | null {
  const [first = '', second = ''] = programOf(word).split('/');
  const name = first.startsWith('@') ? `${first}/${second}` : (PACKAGE_OF[first] ?? first);
  return name in devDependencies && !(name in dependencies) ? name : null;
}
