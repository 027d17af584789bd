/** The tools of a plan on this machine: those that are installed, and versions fetched in their place. */
import { compare, gte, satisfies } from 'semver';
import type { Tool } from '../../../build-plan/build-plan.ts';
import { Failure } from '../../../domain/failure.ts';
import type { RunningBuild } from './running-build.ts';
import { StepRunner } from './steps/step-runner.ts';
import type { CodeBase } from './base/bases.ts';
import type { NoProgram, FoundProgram, ProgramFinder } from './toolchain/programs.ts';
import type { FetchedTool } from './toolchain/toolchains.ts';
import type { BuilderContext } from './builder-context.ts';

interface ResolvedTools {
  readonly programs: readonly FoundProgram[];
  readonly machinePrograms: readonly FoundProgram[];
  readonly fetched: readonly FetchedTool[];
  /** For people, in the plan's order: `node 22.11.0 (engines.node in package.json)`. */
  readonly versions: readonly string[];
}

interface Found {
  readonly tool: Tool;
  /** What is installed and would do, except perhaps for its version; null: nothing. */
  readonly program: FoundProgram | null;
  /** Is to be fetched. */
  readonly isShort: boolean;
}

/** Throws Failure `toolchain_missing`, before anything is fetched when that can be known from this machine. */
export async function resolveTools(
  build: Omit<RunningBuild, 'programs' | 'machinePrograms' | 'fetched'>,
): Promise<ResolvedTools> {
  const { context, plan, base } = build;
  const place = base === null ? context.programs : context.programsOn(base);
  const all: Found[] = [];
  for (const tool of plan.tools) all.push(await find(place, tool, base));
  const programs = all.flatMap(({ program }) => program ?? []);
  const machinePrograms = base === null ? programs : await installed(context, plan.tools);
  const runner = new StepRunner({ ...build, programs, machinePrograms, fetched: [] });
  const fetched: FetchedTool[] = [];
  const versions: string[] = [];
  for (const { tool, program, isShort } of all) {
    const other = isShort
      ? await context.toolchains.fetch(tool, base === null ? (program?.version ?? null) : null, () =>
          runner.toolContext(),
        )
      : null;
    if (other !== null) fetched.push(other);
    const version = other?.version ?? program?.version ?? '';
    versions.push(`${tool.program} ${version}${reason(tool, program, other)}`);
  }
  return { programs, machinePrograms, fetched, versions };
}

/** Whatever of these the machine has. */
async function installed({ programs }: BuilderContext, tools: readonly Tool[]): Promise<FoundProgram[]> {
  const found = [];
  for (const tool of tools) found.push(await programs.find(tool));
  return found.filter((program): program is FoundProgram => program.found);
}

async function find(programs: ProgramFinder, tool: Tool, base: CodeBase | null): Promise<Found> {
  const { wanted = null, download = null } = tool;
  const installed = await firstInstalled(programs, tool);
  if (!installed.found) {
    if (canFetch(tool) && (download?.otherwise != null || wanted !== null))
      return { tool, program: null, isShort: true };
    if (tool.neededFor !== undefined && installed.isOld === true) {
      const { cause, message, hint } = tool.neededFor;
      throw new Failure(cause, `${message} ${installed.missing}`, { hint });
    }
    const where = base === null ? 'This server' : `The image ${base.image.split('@')[0]}`;
    throw new Failure('toolchain_missing', `${where} cannot build this app: ${installed.missing}`, {
      hint:
        installed.isLate === true
          ? 'Push again when less is going on; if it stays so, ask the operator what keeps the server busy.'
          : base === null
            ? 'Ask the operator to install it, then push again.'
            : 'Ask the operator to name an image that has it in the setting "images.base", then push again.',
    });
  }
  if (wanted === null || satisfies(installed.version, wanted.range))
    return { tool, program: installed, isShort: false };
  const here = new Set([installed.version]);
  for (const program of tool.others ?? []) {
    const other = await programs.find({ ...tool, program });
    if (!other.found) continue;
    here.add(other.version);
    if (!satisfies(other.version, wanted.range)) continue;
    // Under the name that the steps use.
    return { tool, program: { ...other, program: tool.program }, isShort: false };
  }
  if (download !== null) return { tool, program: installed, isShort: true };
  if (fetchesItself(tool, installed)) return { tool, program: installed, isShort: false };
  throw new Failure(
    'toolchain_missing',
    `${wanted.from} asks for ${tool.program} ${wanted.text}, which this server does not have.`,
    {
      hint: `Installed here: ${[...here].sort(compare).join(', ')}. Change ${wanted.from} to one of these, or ask the operator to install the other; then push again.`,
    },
  );
}

/** What it is fetched by may be another tool. */
function canFetch({ program, download = null }: Tool): boolean {
  return download !== null && download.by?.per !== program;
}

/** Nobody has to install it, whatever version is asked for. */
export function isFetched(tool: Tool): boolean {
  return canFetch(tool) && tool.download?.otherwise != null;
}

/** Where there is none under its own name, one that is called by its version, such as php-fpm8.2. */
export async function firstInstalled(programs: ProgramFinder, tool: Tool): Promise<FoundProgram | NoProgram> {
  const own = await programs.find(tool);
  if (own.found) return own;
  for (const program of tool.others ?? []) {
    const other = await programs.find({ ...tool, program });
    if (other.found) return { ...other, program: tool.program };
  }
  return own;
}

function fetchesItself({ fetchesItselfSince }: Tool, { version }: FoundProgram): boolean {
  return fetchesItselfSince !== undefined && gte(version, fetchesItselfSince);
}

function reason(tool: Tool, program: FoundProgram | null, fetched: FetchedTool | null): string {
  const { wanted = null } = tool;
  if (wanted !== null) {
    if (fetched === null && program !== null && !satisfies(program.version, wanted.range)) {
      return ` (${wanted.from} asks for ${wanted.text}, which it fetches)`;
    }
    const instead = fetched !== null && program !== null ? `, instead of the installed ${program.version}` : '';
    return ` (${wanted.from} asks for ${wanted.text}${instead})`;
  }
  return fetched !== null ? ' (none is installed)' : '';
}
