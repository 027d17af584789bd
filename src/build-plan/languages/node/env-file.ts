/** A start command that reads a file of variables which people keep to themselves: Node ends at once where it is not there. */
import type { PlannedProcess, PlanProblem } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import type { PackageJson } from './package-json.ts';
import { withCalledScripts } from './script-lines.ts';

/** Without quotes, variables and several commands, which are for a shell to read. */
const PLAIN = /^node(?:\s+[\w@%+=:,./-]+)+$/;
const OPTION = /\s--env-file(?:=|\s+)([\w@./-]+)/g;
/** Nothing else on the line, which might make it. */
const READS =
  /^(?:cross-env\s+|\w+=\S*\s+)*(?:node|tsx)(?:\s+-[\w-]+(?:=\S*)?)*?\s--env-file(?:=|\s+)([\w@./-]+)[^;&|]*$/;
const CALLS = /^(?:npm|yarn|pnpm|bun)\s[^;&|]*$/;
/** Others may lie in a volume. */
const AT_THE_TOP = /^(?:\.\/)?[^/]+$/;
const MAX_COMMAND = 1_000;

interface Started {
  readonly processes: Readonly<Record<string, PlannedProcess>>;
  readonly notes: readonly string[];
}

/** What is run without npm, as it would be if the file were optional. Only for a source of which nothing is made before. */
export async function withoutEnvFiles(files: SourceFiles, { processes, notes }: Started): Promise<Started> {
  const changed: Record<string, PlannedProcess> = {};
  const missing = new Set<string>();
  for (const [name, { command, from }] of Object.entries(processes)) {
    const isPlain = PLAIN.test(command.slice(0, MAX_COMMAND));
    for (const [, path = ''] of isPlain ? command.matchAll(OPTION) : []) {
      if (!(await mayBeThere(files, path))) missing.add(path);
    }
    const without = (option: string, path: string): string => (missing.has(path) ? '' : option);
    changed[name] = { command: isPlain ? command.replace(OPTION, without) : command, from };
  }
  const said = [...missing].map(
    (path) =>
      `${path} is not in the source: the app is started without it. Set its variables with: tancho env set NAME=value`,
  );
  return { processes: changed, notes: [...notes, ...said] };
}

/** Null where every such file may be there. `commands`: by the process. For a source as above. */
export async function missingEnvFile(
  files: SourceFiles,
  packageJson: PackageJson,
  commands: Readonly<Record<string, string>>,
): Promise<PlanProblem | null> {
  for (const [name, command] of Object.entries(commands)) {
    const lines = withCalledScripts([command], packageJson).map((line) => line.trim().slice(0, MAX_COMMAND));
    if (!lines.every((line) => CALLS.test(line) || READS.test(line))) continue;
    for (const line of lines) {
      const [, path] = READS.exec(line) ?? [];
      if (path === undefined || (await mayBeThere(files, path))) continue;
      return {
        cause: 'invalid_config',
        message: `The process ${name} reads ${path} (${line.slice(0, 80)}), which is not in the source; Node ends at once without it.`,
        hint: `Take --env-file out of the command, or write --env-file-if-exists where Node is 22.9 or newer, commit and push again; set what ${path} has on the app: tancho env set NAME=value`,
      };
    }
  }
  return null;
}

async function mayBeThere(files: SourceFiles, path: string): Promise<boolean> {
  return !AT_THE_TOP.test(path) || (await files.exists(path.replace(/^\.\//, '')));
}
