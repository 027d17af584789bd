/** A start command that reads a file of variables which people keep to themselves: Node ends at once where it is not there. */
import type { PlannedProcess, PlanProblem } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import type { PackageJson } from './package-json.ts';
import { withCalledScripts } from './script-lines.ts';

/** Without quotes, variables and several commands, which are for a shell to read. */
const PLAIN = /^node(?:\s+[\w@%+=:,./-]+)+$/;
const OPTION = /\s--env-file(?:=|\s+)([\w@./-]+)/g;
const READS = /(?:^|[\s;&|])(?:node|tsx)(?:\s+-[\w-]+(?:=\S*)?)*?\s--env-file(?:=|\s+)([\w@./-]+)/g;
const ANY_OPTION = /--env-file(?:-if-exists)?(?:=|\s+)\S+/g;
const MAX_COMMAND = 1_000;

interface Started {
  readonly processes: Readonly<Record<string, PlannedProcess>>;
  readonly notes: readonly string[];
}

/** What is run without npm, as it would be if the file were optional. */
export async function withoutEnvFiles(
  files: SourceFiles,
  packageJson: PackageJson,
  { processes, notes }: Started,
): Promise<Started> {
  const changed: Record<string, PlannedProcess> = {};
  const missing = new Set<string>();
  for (const [name, { command, from }] of Object.entries(processes)) {
    let text = command;
    for (const [option, path = ''] of PLAIN.test(command.slice(0, MAX_COMMAND)) ? command.matchAll(OPTION) : []) {
      if (await isThere(files, path, packageJson)) continue;
      text = text.replace(option, '');
      missing.add(path);
    }
    changed[name] = { command: text, from };
  }
  const said = [...missing].map(
    (path) =>
      `${path} is not in the source: the app is started without it; tancho env set sets variables as it has them`,
  );
  return { processes: changed, notes: [...notes, ...said] };
}

/** Null where every such file may be there. `commands`: by the process. */
export async function missingEnvFile(
  files: SourceFiles,
  packageJson: PackageJson,
  commands: Readonly<Record<string, string>>,
): Promise<PlanProblem | null> {
  for (const [name, command] of Object.entries(commands)) {
    for (const line of withCalledScripts([command], packageJson)) {
      if (/\bcd\s/.test(line.slice(0, MAX_COMMAND))) continue;
      for (const [, path = ''] of line.slice(0, MAX_COMMAND).matchAll(READS)) {
        if (await isThere(files, path, packageJson)) continue;
        return {
          cause: 'no_process',
          message: `The process ${name} reads ${path} (${line.slice(0, 80)}), which is not in the source; Node ends at once without it.`,
          hint: `Take --env-file out of the command, or write --env-file-if-exists where Node is 22.9 or newer, commit and push again; set what ${path} has on the app: tancho env set NAME=value`,
        };
      }
    }
  }
  return null;
}

/** Or some script may make it. */
async function isThere(files: SourceFiles, path: string, { scripts }: PackageJson): Promise<boolean> {
  if (path.startsWith('/') || path.split('/').includes('..') || (await files.exists(path))) return true;
  return Object.values(scripts).some((line) => line.slice(0, MAX_COMMAND).replace(ANY_OPTION, '').includes(path));
}
