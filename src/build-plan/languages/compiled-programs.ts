/** Programs that a compiler makes of a source: which of them the processes run, and which one serves. */
import type { PlanProblem } from '../build-plan.ts';
import type { AppDeclaration } from '../language.ts';
import type { SourceFiles } from '../source/source-files.ts';

export interface CompiledProgram {
  readonly name: string;
  /** Of its source, relative to the top; '' is the top. */
  readonly directory: string;
}

export interface Compiler {
  /** Where its programs lie in the code: `bin`. */
  readonly output: string;
  /** How its programs are named, one sentence. */
  readonly naming: string;
}

interface CalledProgram {
  readonly name: string;
  /** With the directory of what is compiled: no program of the system is meant. */
  readonly isOwn: boolean;
}

/** Usual names of what serves, the best first; those of the app and of its source come after them. */
const SERVERS = ['web', 'server', 'api'];
const LISTED = 10;

/** Process -> the program with which its command begins. */
export function calledPrograms({ processes }: AppDeclaration, { output }: Compiler): Map<string, CalledProgram> {
  const called = new Map<string, CalledProgram>();
  for (const [process, command] of Object.entries(processes ?? {})) {
    const [first, second] = command.slice(0, 1_000).trim().split(/\s+/);
    const program = (first === 'exec' ? (second ?? '') : (first ?? '')).replace(/^\.\//, '');
    const isOwn = program.startsWith(`${output}/`);
    const name = isOwn ? program.slice(output.length + 1) : program;
    if (/^[\w.+~-]+$/.test(name)) called.set(process, { name, isOwn });
  }
  return called;
}

/** Null when nothing says which one. */
export function servingProgram<Program extends CompiledProgram>(
  built: readonly Program[],
  names: readonly string[],
): Program | null {
  for (const name of [...SERVERS, ...names]) {
    const program = built.find((each) => each.name === name);
    if (program !== undefined) return program;
  }
  return built.length === 1 ? (built[0] ?? null) : null;
}

/** Why the processes cannot run what is compiled; `served` is what runs when the app says nothing itself. */
export async function programProblem(
  files: SourceFiles,
  { processes, ...asked }: AppDeclaration,
  compiler: Compiler,
  { built, served }: { readonly built: readonly CompiledProgram[]; readonly served: CompiledProgram | null },
): Promise<PlanProblem | null> {
  const { output, naming } = compiler;
  const [first] = built;
  if (processes === null) {
    if (served !== null || first === undefined) return null;
    return {
      cause: 'no_process',
      message: `The source has several programs, and nothing says which of them serves: ${listed(built, output)}.`,
      hint: `Add a file named Procfile at the top of the repository with one process per line, for example: web: ${output}/${first.name}`,
    };
  }
  for (const [process, { name, isOwn }] of calledPrograms({ processes, ...asked }, compiler)) {
    if (!isOwn || built.some((program) => program.name === name)) continue;
    if (await files.exists(`${output}/${name}`)) continue;
    const are = built.length === 0 ? 'it has no programs' : `its programs are ${listed(built, output)}`;
    return {
      cause: 'invalid_config',
      message: `The process ${process} runs ${output}/${name}, which nothing of this source makes: ${are}.`,
      hint: `${naming} Correct the command of the process and push again.`,
    };
  }
  return null;
}

function listed(built: readonly CompiledProgram[], output: string): string {
  const names = built.map(({ name, directory }) => `${output}/${name} (${directory || 'the top'})`);
  return names.length <= LISTED ? names.join(', ') : `${names.slice(0, LISTED).join(', ')}, ...`;
}
