/** One build, from source to a finished slug. Owns the order of things; each thing is done elsewhere. */
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Artifact, BuildRequest } from '../../../domain/deploys/builder.ts';
import { Failure } from '../../../domain/rollouts/rollout.ts';
import { PlatformError } from '../../../domain/errors.ts';
import { readAppFiles } from '../../../build-plan/app-files/app-files.ts';
import type { AppFiles } from '../../../build-plan/app-files/app-files.ts';
import { prepareDependencies } from './dependencies.ts';
import { bringVersions, findPrograms } from './find-programs.ts';
import { defaultProcesses, writeManifest } from './finish-slug.ts';
import { holds } from './platform-file/conditions.ts';
import { readAddedPlatform } from './platform-file/added-platform.ts';
import { checkSource, findPlatform } from './platform-file/detect.ts';
import type { Platform, Step } from './platform-file/platform-file.ts';
import type { RunningBuild } from './running-build.ts';
import type { SlugPlace } from './slugs.ts';
import { SourceFiles } from '../../../build-plan/source/source-files.ts';
import type { BuildOutput } from './steps/output.ts';
import { StepRunner } from './steps/step-runner.ts';
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
  const platforms = platformsOf(workshop, request);
  const platform = findPlatform(request.app, request.platform, platforms);
  const note = (text: string): void => output.say(text);
  const appFiles = await readAppFiles(files, { platform: platform.name, options: platform.options, note });
  // Who configures a platform means it, even when its files are only made by a hook.
  if (Object.keys(appFiles.config.options).length === 0) await checkSource(request.app, platform, platforms, files);
  const programs = await findPrograms(workshop, platform, files, note);
  const installed = { workshop, request, platform, place, files, programs, output, signal };
  const brought = await bringVersions({ ...installed, brought: [] });
  const used = new Map(programs.map(({ program, version }) => [program, version]));
  for (const [program, { version }] of brought) used.set(program, version);
  const versions = [...used].map(([program, version]) => `${program} ${version}`);
  const tools = versions.length === 0 ? '' : ` (${versions.join(', ')})`;
  output.say(`Building ${request.app} with ${platform.name}${tools}`);
  for (const { when, text } of platform.notes) if (await holds(when, files, platform.facts)) output.say(text);
  const build: RunningBuild = { ...installed, brought: [...brought.values()] };
  await copyPlatformFiles(platform, place);
  await workshop.sandbox.own(place.code, request.app);
  const layer = await runSteps(build, appFiles);
  signal.throwIfAborted();
  const processes = appFiles.processes ?? (await defaultProcesses(build));
  await writeManifest(build, appFiles, layer);
  const { restartBefore, restartAfter, healthCheck } = appFiles.config;
  const { settings, release } = appFiles;
  return { id: place.id, processes, settings, healthCheck, hooks: { release, restartBefore, restartAfter } };
}

/** Throws Failure `no_platform` when the definition of one that was added cannot be read: another version of this program took it. */
function platformsOf(workshop: Workshop, { platform, definition }: BuildRequest): ReadonlyMap<string, Platform> {
  if (definition === undefined) return workshop.platforms;
  try {
    const added = readAddedPlatform(platform, definition, workshop.inheritable);
    return new Map([...workshop.platforms, [platform, added]]);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new Failure('no_platform', error.message, { hint: 'An admin can change it: tancho platform update.' });
  }
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
