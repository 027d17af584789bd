/** The programs of a build: those of this machine, and versions brought in their place. */
import { compare, satisfies } from 'semver';
import { Failure } from '../../../domain/rollouts/rollout.ts';
import { holds } from './platform-file/conditions.ts';
import type { Platform, Tool } from './platform-file/platform-file.ts';
import type { RunningBuild } from './running-build.ts';
import type { SourceFiles } from '../../../build-plan/source/source-files.ts';
import { StepRunner } from './steps/step-runner.ts';
import { askedRange } from './toolchain/asked-version.ts';
import type { Program } from './toolchain/programs.ts';
import type { Brought } from './toolchain/toolchains.ts';
import type { Workshop } from './workshop.ts';

/** Throws Failure `toolchain_missing`. `say` is told of a version that was asked for and is not the one that is used. */
export async function findPrograms(
  workshop: Workshop,
  platform: Platform,
  files: SourceFiles,
  say: (text: string) => void,
): Promise<Program[]> {
  const programs: Program[] = [];
  for (const tool of platform.tools) {
    if (!(await holds(tool.when, files, platform.facts))) continue;
    const program = await workshop.programs.find(tool);
    // It is brought below.
    if (!program.found && tool.versions !== null && tool.versions.otherwise !== null) continue;
    if (!program.found) {
      throw new Failure('toolchain_missing', `This server cannot build this app: ${program.missing}`, {
        hint: 'Ask the operator to install it, then push again.',
      });
    }
    programs.push(await askedProgram(workshop, tool, program, files, say));
  }
  return programs;
}

/** What the source asks for, among the versions that are installed here; the one that was found when it asks for none. */
async function askedProgram(
  { programs }: Workshop,
  tool: Tool,
  found: Program,
  files: SourceFiles,
  say: (text: string) => void,
): Promise<Program> {
  const asked = await askedOf(tool, files);
  if (asked === null) return found;
  const { file, text } = asked;
  const range = askedRange(text);
  if (range === null) {
    say(`${file} asks for "${text}", which is no version of ${tool.program}: ${found.version} is used`);
    return found;
  }
  const names = satisfies(found.version, range) ? [] : tool.others;
  let used: Program | null = names.length === 0 && satisfies(found.version, range) ? found : null;
  const here = new Set([found.version]);
  for (const program of names) {
    const other = await programs.find({ ...tool, program });
    if (!other.found) continue;
    here.add(other.version);
    // Under the name that the steps use.
    if (satisfies(other.version, range)) used = { ...other, program: tool.program };
    if (used !== null) break;
  }
  if (used === null) {
    throw new Failure(
      'toolchain_missing',
      `${file} asks for ${tool.program} ${text}, which this server does not have.`,
      {
        hint: `Installed here: ${[...here].sort(compare).join(', ')}. Change ${file}, or ask the operator to install it, then push again.`,
      },
    );
  }
  if (used !== found || (/^\d+\.\d+\.\d+$/.test(text) && text !== used.version)) {
    say(`${file} asks for ${tool.program} ${text}: ${used.version} is used`);
  }
  return used;
}

async function askedOf(tool: Tool, files: SourceFiles): Promise<{ file: string; text: string } | null> {
  for (const { file, matches } of tool.asked) {
    const text =
      matches
        .exec((await files.text(file)) ?? '')?.[1]
        ?.trim()
        .slice(0, 80) ?? '';
    if (text !== '') return { file, text };
  }
  return null;
}

/** By the name of the program: the versions that are brought in place of those that are installed, or because none is. */
export async function bringVersions(build: RunningBuild): Promise<Map<string, Brought>> {
  const { platform, files, programs, workshop } = build;
  const runner = new StepRunner(build);
  const all = new Map<string, Brought>();
  for (const tool of platform.tools) {
    if (tool.versions === null || !(await holds(tool.when, files, platform.facts))) continue;
    const installed = programs.find((program) => program.program === tool.program) ?? null;
    const brought = await workshop.toolchains.wanted(tool, installed, files, () => runner.toolContext());
    if (brought !== null) all.set(tool.program, brought);
  }
  return all;
}
