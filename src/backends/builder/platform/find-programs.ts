/** The programs of a build: those of this machine, and versions brought in their place. */
import { Failure } from '../../../domain/apps/rollout.ts';
import { holds } from './platform-file/conditions.ts';
import type { Platform } from './platform-file/platform-file.ts';
import type { RunningBuild } from './running-build.ts';
import type { SourceFiles } from './source-files.ts';
import { StepRunner } from './steps/step-runner.ts';
import type { Program } from './toolchain/programs.ts';
import type { Brought } from './toolchain/toolchains.ts';
import type { Workshop } from './workshop.ts';

/** Throws Failure `toolchain_missing`. */
export async function findPrograms(workshop: Workshop, platform: Platform, files: SourceFiles): Promise<Program[]> {
  const programs: Program[] = [];
  for (const tool of platform.tools) {
    if (!(await holds(tool.when, files, platform.facts))) continue;
    const program = await workshop.programs.find(tool);
    if (!program.found) {
      throw new Failure('toolchain_missing', `This server cannot build this app: ${program.missing}`, {
        hint: 'Ask the operator to install it, then push again.',
      });
    }
    programs.push(program);
  }
  return programs;
}

/** For each program the version brought in its place, or null. */
export async function bringVersions(build: RunningBuild): Promise<(Brought | null)[]> {
  const runner = new StepRunner(build);
  const brought: (Brought | null)[] = [];
  for (const program of build.programs) {
    const tool = build.platform.tools.find((one) => one.program === program.program);
    const wants = tool?.versions != null;
    brought.push(
      wants ? await build.workshop.toolchains.wanted(tool, program, build.files, () => runner.toolContext()) : null,
    );
  }
  return brought;
}
