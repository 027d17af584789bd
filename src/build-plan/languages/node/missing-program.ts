/** A start command that names a file which is not there, and which nothing makes: that is seen before anything is installed. */
import type { PlannedProcess, PlanProblem } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';

/** Others may do anything before. */
const PLAIN = /^node\s+(?:\.\/)?([\w@+-][\w@+./-]*)$/;
const MAX_COMMAND = 500;
/** What Node itself looks for beside the name. */
const ENDINGS = ['', '.js', '.json', '.node', '/index.js', '/package.json'];

/** `commands`: by the process, with who says so, where that is known. `files`: of the directory in which they are run. */
export async function missingProgram(
  files: SourceFiles,
  commands: Readonly<Record<string, string | PlannedProcess>>,
  isTypeScript: boolean,
): Promise<PlanProblem | null> {
  for (const [name, said] of Object.entries(commands)) {
    const { command, from } = typeof said === 'string' ? { command: said, from: `"${said}"` } : said;
    const [, path] = PLAIN.exec(command.slice(0, MAX_COMMAND)) ?? [];
    if (path === undefined || path.split('/').includes('..')) continue;
    if ((await files.find(...ENDINGS.map((ending) => `${path}${ending}`))) !== null) continue;
    const example = isTypeScript ? ', as "build": "tsc",' : '';
    return {
      cause: 'no_process',
      message: `The process ${name} runs ${path} (${from}), which is not in the source, and no script builds it.`,
      hint: `Add the script that makes it to package.json${example} or name a file that is there; then push again.`,
    };
  }
  return null;
}
