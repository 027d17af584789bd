/** Development packages that the app runs with: they must not be removed after the build. */
import type { PackageJson } from './package-json.ts';

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
const SCRIPT = /\b(?:npm|yarn|pnpm)(?:\s+(?:run|run-script|-\S+|exec))*\s+([\w:.-]+)/g;
const MAX_COMMAND = 4_096;

/** Why they stay: `"npm start" runs nest, from the development package @nestjs/cli`; null when they may go. */
export function whyDevelopmentStays(commands: readonly string[], packageJson: PackageJson): string | null {
  const seen = new Set<string>();
  const open = commands.map((command) => ({ command, by: command }));
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const { command, by } = next;
    const text = command.slice(0, MAX_COMMAND);
    for (const word of text.split(/[\s;&|()'"=,]+/)) {
      const name = developmentPackage(word, packageJson);
      if (name !== null) return `"${by}" runs ${programOf(word)}, from the development package ${name}`;
    }
    for (const [, script = ''] of text.matchAll(SCRIPT)) {
      for (const each of [`pre${script}`, script, `post${script}`]) {
        const line = packageJson.scripts[each];
        if (line === undefined || seen.has(each)) continue;
        seen.add(each);
        open.push({ command: line, by });
      }
    }
  }
  return null;
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
