/** One build, from source to a finished slug. Owns the order of things; each thing is done elsewhere. */
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Artifact, BuildRequest } from '../../../domain/deploys/builder.ts';
import { Failure } from '../../../domain/apps/rollout.ts';
import { readAppFiles } from './app-files/app-files.ts';
import type { AppFiles } from './app-files/app-files.ts';
import { prepareDependencies } from './dependencies.ts';
import { platformVariables } from './environment.ts';
import { noProcess } from './failures.ts';
import { holds } from './platform-file/conditions.ts';
import { checkSource, findPlatform } from './platform-file/detect.ts';
import type { Platform, Step } from './platform-file/platform-file.ts';
import type { SlugPlace } from './slugs.ts';
import { SourceFiles } from './source-files.ts';
import type { BuildOutput } from './steps/output.ts';
import { StepRunner } from './steps/step-runner.ts';
import type { RunningBuild } from './steps/step-runner.ts';
import { fill } from './templates.ts';
import type { Program } from './toolchain/programs.ts';
import type { Brought } from './toolchain/toolchains.ts';
import type { Workshop } from './workshop.ts';

export async function buildSlug(
  workshop: Workshop,
  request: BuildRequest,
  place: SlugPlace,
  output: BuildOutput,
  signal: AbortSignal,
): Promise<Artifact> {
  await workshop.slugs.begin(place);
  await request.source.extract(place.code, signal);
  signal.throwIfAborted();
  const files = new SourceFiles(place.code);
  const platform = findPlatform(request.app, request.platform, workshop.platforms);
  const note = (text: string): void => output.say(text);
  const appFiles = await readAppFiles(files, { platform: platform.name, options: platform.options, note });
  // Who configures a platform means it, even when its files are only made by a hook.
  if (Object.keys(appFiles.config.options).length === 0)
    await checkSource(request.app, platform, workshop.platforms, files);
  const programs = await findPrograms(workshop, platform, files);
  const installed = { workshop, request, platform, place, files, programs, output, signal };
  const brought = await bringVersions({ ...installed, brought: [] });
  const versions = programs.map((program, index) => `${program.program} ${brought[index]?.version ?? program.version}`);
  output.say(`Building ${request.app} with ${platform.name} (${versions.join(', ')})`);
  const build: RunningBuild = { ...installed, brought: brought.filter((tool) => tool !== null) };
  await copyPlatformFiles(platform, place);
  await workshop.sandbox.own(place.code, request.app);
  const layer = await runSteps(build, appFiles);
  signal.throwIfAborted();
  const processes = appFiles.processes ?? (await defaultProcesses(build));
  await writeManifest(build, appFiles, layer);
  const { restartBefore, restartAfter, healthCheck } = appFiles.config;
  return { id: place.id, processes, healthCheck, hooks: { restartBefore, restartAfter } };
}

async function findPrograms(workshop: Workshop, platform: Platform, files: SourceFiles): Promise<Program[]> {
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
async function bringVersions(build: RunningBuild): Promise<(Brought | null)[]> {
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

async function copyPlatformFiles(platform: Platform, place: SlugPlace): Promise<void> {
  if (platform.files.length === 0) return;
  // The source may hold a link of this name.
  await rm(join(place.code, '.tancho'), { recursive: true, force: true });
  for (const { from, to } of platform.files) {
    const target = join(place.code, to);
    await mkdir(dirname(target), { recursive: true });
    await copyFile(join(platform.directory, from), target);
  }
}

/** Returns the tree of the dependency layer, or null. */
async function runSteps(build: RunningBuild, appFiles: AppFiles): Promise<string | null> {
  const { platform, files, output } = build;
  const runner = new StepRunner(build);
  try {
    const steps: Step[] = [];
    for (const step of platform.steps) if (await holds(step.when, files, platform.facts)) steps.push(step);
    const hooks = appFiles.config.hooksBuild;
    let layer: string | null = null;
    for (const dependencies of platform.dependencies) {
      const tree = await prepareDependencies(dependencies, build, runner, steps.length + hooks.length > 0);
      layer = tree ?? layer;
    }
    const where = layer === null ? {} : { layer: { tree: layer, writable: false } };
    for (const step of steps) {
      output.say(step.name);
      await runner.run(step.name, step.run, where);
    }
    for (const hook of hooks) {
      output.say(`hook: ${hook}`);
      await runner.run(`hooks.build: ${hook}`, ['/bin/sh', '-c', hook], { ...where, verbatim: true });
    }
    return layer;
  } finally {
    await runner.close();
  }
}

async function defaultProcesses(build: RunningBuild): Promise<Record<string, string>> {
  const { platform, files, request } = build;
  const processes: Record<string, string> = {};
  for (const candidate of platform.processes) {
    if (candidate.name in processes || !(await holds(candidate.when, files, platform.facts))) continue;
    const { command, module } = candidate;
    const found = module === null ? null : await files.find(module);
    const values = {
      app: request.app,
      ...(found !== null && { module: found.replace(/\.\w+$/, '').replaceAll('/', '.') }),
    };
    const text = typeof command === 'string' ? fill(command, values) : await files.jsonValue(command.file, command.key);
    if (typeof text === 'string' && text.trim() !== '') processes[candidate.name] = text;
  }
  if (Object.keys(processes).length === 0) throw noProcess(platform.name, platform.example);
  return processes;
}

async function writeManifest(build: RunningBuild, appFiles: AppFiles, layer: string | null): Promise<void> {
  const { workshop, platform, place, files, request, brought, programs } = build;
  const values: Record<string, string> = { app: request.app, code: place.code };
  if (layer !== null) values['layer'] = layer;
  const path = [...(layer === null ? [] : [join(layer, 'bin')]), ...brought.map((tool) => tool.bin)];
  const binds = [...(layer === null ? [] : [layer]), ...brought.map((tool) => tool.directory)];
  for (const program of programs) {
    if (platform.tools.find((tool) => tool.program === program.program)?.runtime !== true) continue;
    binds.push(...program.binds);
    if (!(await workshop.programs.isDefault(program))) path.push(dirname(program.path));
  }
  await workshop.slugs.finish(place, {
    format: 1,
    platform: platform.name,
    path: [...new Set(path)],
    env: { ...(await platformVariables(platform, 'run', files, values)), ...appFiles.config.options },
    binds: [...new Set(binds)],
  });
}
