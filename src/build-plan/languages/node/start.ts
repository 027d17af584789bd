/** What starts an app that has no Procfile. */
import type { PlannedProcess } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import type { PackageJson } from './package-json.ts';

/** `npm start` costs a second process and some hundred milliseconds; a plain `node file` needs neither. */
const PLAIN = /^node(\s+[\w@%+=:,./-]+)+$/;
const MAX_PLAIN = 1_000;
const PROGRAMS = ['server.js', 'index.js', 'app.js'];

/** Empty when the source does not say. */
export async function defaultStart(
  files: SourceFiles,
  packageJson: PackageJson,
): Promise<Record<string, PlannedProcess>> {
  const { scripts } = packageJson;
  for (const name of ['start', 'start:prod']) {
    const script = scripts[name] ?? '';
    if (script.trim() === '') continue;
    const from = `scripts.${name} in package.json`;
    const isAlone = scripts[`pre${name}`] === undefined && scripts[`post${name}`] === undefined;
    if (isAlone && script.length <= MAX_PLAIN && PLAIN.test(script)) return { web: { command: script, from } };
    return { web: { command: name === 'start' ? 'npm start' : `npm run ${name}`, from } };
  }
  const program = await files.find(...PROGRAMS);
  return program === null ? {} : { web: { command: `node ${program}`, from: program } };
}
