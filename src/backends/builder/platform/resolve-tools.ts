/** The tools of a plan on this machine: those that are installed, and versions fetched in their place. */
import { compare, gte, satisfies } from 'semver';
import type { Tool } from '../../../build-plan/build-plan.ts';
import { Failure } from '../../../domain/failure.ts';
import type { RunningBuild } from './running-build.ts';
import { StepRunner } from './steps/step-runner.ts';
import type { NoProgram, Program } from './toolchain/programs.ts';
import type { FetchedTool } from './toolchain/toolchains.ts';
import type { BuilderContext } from './builder-context.ts';

interface ResolvedTools {
  readonly programs: readonly Program[];
  readonly fetched: readonly FetchedTool[];
  /** For people, in the plan's order: `node 22.11.0 (engines.node in package.json)`. */
  readonly versions: readonly string[];
}

interface Found {
  readonly tool: Tool;
  /** What is installed and would do, except perhaps for its version; null: nothing. */
  readonly program: Program | null;
  /** Is to be fetched. */
  readonly isShort: boolean;
}

/** Throws Failure `toolchain_missing`, before anything is fetched when that can be known from this machine. */
export async function resolveTools(build: Omit<RunningBuild, 'programs' | 'fetched'>): Promise<ResolvedTools> {
  const { context, plan } = build;
  const all: Found[] = [];
  for (const tool of plan.tools) all.push(await find(context, tool));
  const programs = all.flatMap(({ program }) => program ?? []);
  const runner = new StepRunner({ ...build, programs, fetched: [] });
  const fetched: FetchedTool[] = [];
  const versions: string[] = [];
  for (const { tool, program, isShort } of all) {
    const other = isShort
      ? await context.toolchains.fetch(tool, program?.version ?? null, () => runner.toolContext())
      : null;
    if (other !== null) fetched.push(other);
    const version = other?.version ?? program?.version ?? '';
    versions.push(`${tool.program} ${version}${reason(tool, program, other)}`);
  }
  return { programs, fetched, versions };
}

async function find(context: BuilderContext, tool: Tool): Promise<Found> {
  const { programs } = context;
  const { wanted = null, download = null } = tool;
  const installed = await firstInstalled(context, tool);
  if (!installed.found) {
    if (download !== null && download.by === undefined && (download.otherwise !== null || wanted !== null))
      return { tool, program: null, isShort: true };
    throw new Failure('toolchain_missing', `This server cannot build this app: ${installed.missing}`, {
      hint: 'Ask the operator to install it, then push again.',
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

/** Where there is none under its own name, one that is called by its version, such as php-fpm8.2. */
async function firstInstalled({ programs }: BuilderContext, tool: Tool): Promise<Program | NoProgram> {
  const own = await programs.find(tool);
  if (own.found) return own;
  for (const program of tool.others ?? []) {
    const other = await programs.find({ ...tool, program });
    if (other.found) return { ...other, program: tool.program };
  }
  return own;
}

function fetchesItself({ fetchesItselfSince }: Tool, { version }: Program): boolean {
  return fetchesItselfSince !== undefined && gte(version, fetchesItselfSince);
}

function reason(tool: Tool, program: Program | null, fetched: FetchedTool | null): string {
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
