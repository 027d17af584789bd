/** One build, from source to a finished slug. Owns the order of things; each thing is done elsewhere. */
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BuildPlan } from '../../../build-plan/build-plan.ts';
import type { Language } from '../../../build-plan/language.ts';
import { type BuildCommand, demandBuildable, planSource } from '../../../build-plan/plan-source.ts';
import { isPartOfSource } from '../../../build-plan/part-of-source.ts';
import { dockerfile } from '../../../build-plan/languages/dockerfile/dockerfile.ts';
import { directoryReader } from '../../../build-plan/source/directory.ts';
import { SourceFiles } from '../../../build-plan/source/source-files.ts';
import { describeBriefly } from '../../../build-plan/description.ts';
import { NO_SETTINGS } from '../../../domain/apps/app-settings.ts';
import { ROUTED_PROCESS } from '../../../domain/units/unit.ts';
import { randomHex } from '../../../lib/ids.ts';
import type { ArtifactPlace } from '../../../domain/artifacts/artifact-store.ts';
import type { Artifact, BuildRequest, ProcessSettings } from '../../../domain/deploys/builder.ts';
import { PlatformError } from '../../../domain/errors.ts';
import { Failure } from '../../../domain/failure.ts';
import type { CodeBase } from './base/bases.ts';
import { prepareDependencies } from './dependencies.ts';
import { writeManifest } from './finish-slug.ts';
import { buildImage, demandImages } from './image-build/build-image.ts';
import { narrowTo } from './narrow-to.ts';
import { resolveTools } from './resolve-tools.ts';
import type { RunningBuild } from './running-build.ts';
import { OptionalParts } from './steps/optional-parts.ts';
import type { BuildOutput } from './steps/output.ts';
import { StepRunner } from './steps/step-runner.ts';
import type { BuilderContext } from './builder-context.ts';

/** Characters; what frameworks themselves generate. */
const SECRET_LENGTH = 128;

export async function buildSlug(
  context: BuilderContext,
  request: BuildRequest,
  place: ArtifactPlace,
  output: BuildOutput,
  signal: AbortSignal,
): Promise<Artifact> {
  await request.source.extract(place.code, signal);
  const submodules = request.source.submodules?.() ?? [];
  if (submodules.length > 0) {
    const { fetchSubmodules } = await import('./submodules.ts');
    await fetchSubmodules({ context, request, place, output, signal }, submodules);
  }
  const { app, platform, disabled = [] } = request;
  const languages = await languagesFor(context, request);
  const { settings: set = NO_SETTINGS } = request;
  const whole = new SourceFiles(directoryReader(place.code), signal);
  // An image is built from its own directory: what else it needs, it says itself.
  const mayBePart = set.root !== '' && platform !== dockerfile.name;
  const isPart = mayBePart && (await isPartOfSource(languages, whole, set.root, platform));
  if (!isPart) await narrowTo({ root: set.root, app: request.app }, place);
  signal.throwIfAborted();
  let files = isPart ? whole : new SourceFiles(directoryReader(place.code), signal);
  const directory = isPart ? set.root : '';
  const planned = await planSource({ app, platform, languages, files, disabled, directory, settings: set });
  signal.throwIfAborted();
  const { plan, appFiles } = planned;
  if (isPart && plan.image !== null) {
    await narrowTo({ root: set.root, app: request.app }, place);
    files = new SourceFiles(directoryReader(place.code), signal);
  }
  for (const text of plan.notes) output.say(text);
  for (const text of plan.warnings) output.say(`Warning: ${text}`);
  demandBuildable(plan);
  const images = plan.image === null ? null : demandImages({ context });
  const base = plan.image === null ? await baseOf(context, request, plan.platform, output, signal) : null;
  const begun = { context, request, plan, place, files, output, signal, base };
  const { versions, ...tools } = await resolveTools(begun);
  const title = plan.title === plan.platform ? '' : ` (${plan.title})`;
  output.say(`Building ${app} with ${plan.platform}${title}${versions.length === 0 ? '' : `: ${versions.join(', ')}`}`);
  for (const line of describeBriefly(plan)) output.say(line);
  const build: RunningBuild = { ...begun, ...tools };
  await writePlatformFiles(plan, context.platformFiles, place);
  await context.sandbox.own(place.code, app);
  const image = plan.image === null || images === null ? null : await buildImage({ build, image: plan.image, images });
  if (image === null) {
    const layer = await runSteps(build, planned.commands);
    signal.throwIfAborted();
    await writeManifest(build, { layer, options: appFiles.config.options });
  }
  const { restartBefore, restartAfter, healthCheck } = appFiles.config;
  const { settings, release } = appFiles;
  const processes = Object.entries(plan.processes).map(([name, { command }]) => [name, command] as const);
  return {
    id: place.id,
    platform: plan.platform,
    processes: image?.processes ?? Object.fromEntries(processes),
    settings: healthCheck === null ? withLiveness(settings, image?.liveness ?? null) : settings,
    healthCheck: healthCheck ?? image?.healthCheck ?? null,
    hooks: { release, restartBefore, restartAfter },
    variables: plan.newVariables.map(({ name, value, when }) =>
      typeof value === 'string'
        ? { name, value, isPublic: true, when }
        : { name, value: randomHex(SECRET_LENGTH), isPublic: false, when },
    ),
    volumes: appFiles.config.volumes,
    bindingNames: appFiles.config.bindings,
    maintenancePage: appFiles.maintenancePage,
  };
}

/** What units will run on, too. */
async function baseOf(
  { bases: opened, sandbox, isInPod }: BuilderContext,
  { registryLogins: logins = new Map() }: BuildRequest,
  platform: string,
  output: BuildOutput,
  signal: AbortSignal,
): Promise<CodeBase | null> {
  const bases = await opened();
  if (bases === null || !bases.has(platform)) return null;
  // Before anything is pulled, which takes rights that such a server lacks, too.
  if (!sandbox.roots) throw cannotBuild(platform, sandbox.description, isInPod);
  const base = await bases.of({ platform, logins, line: (text) => output.say(text), signal });
  if (base !== null) output.say(`on ${base.image}`);
  return base;
}

function cannotBuild(platform: string, has: string, isInPod: boolean): Failure {
  const message = `Code of ${platform} is built on an image here, and this server cannot: it has ${has}.`;
  const hint = isInPod
    ? 'Deploy an image in place of code (tancho deploy -a <app> --image <image>), or ask the operator to let the pods of the servers build: the command with which they were installed once more, with --builds (tancho install kubernetes).'
    : 'Ask the operator to install the package "bubblewrap" and to run the server as root, or to take the setting "images.base" away.';
  return new Failure('toolchain_missing', message, { hint });
}

/** What the app's files say comes before what an image says. */
function withLiveness(
  settings: Readonly<Record<string, ProcessSettings>>,
  liveness: ProcessSettings['liveness'] | null,
): Readonly<Record<string, ProcessSettings>> {
  const own = settings[ROUTED_PROCESS];
  if (liveness == null || own?.liveness !== undefined) return settings;
  return { ...settings, [ROUTED_PROCESS]: { ...own, liveness } };
}

/**
 * Throws Failure `no_platform` when the definition of the app's platform cannot be read: another version of this program took it.
 * That of another one only cannot be chosen then.
 */
async function languagesFor(
  context: BuilderContext,
  { platform, added = {} }: BuildRequest,
): Promise<readonly Language[]> {
  const written: Language[] = [];
  for (const [name, definition] of Object.entries(added)) {
    try {
      written.push(await context.written(name, definition));
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      if (name !== platform) continue;
      throw new Failure('no_platform', error.message, { hint: 'An admin can change it: tancho platform update.' });
    }
  }
  return [...(await context.languages()), ...written];
}

async function writePlatformFiles({ files }: BuildPlan, platformFiles: string, place: ArtifactPlace): Promise<void> {
  if (files.length === 0) return;
  // The source may hold a link of this name.
  await rm(join(place.code, '.tancho'), { recursive: true, force: true });
  for (const file of files) {
    const target = join(place.code, file.to);
    await mkdir(dirname(target), { recursive: true });
    if ('from' in file) await copyFile(join(platformFiles, file.from), target);
    else await writeFile(target, file.text);
  }
}

/** Returns the tree of the dependency layer, or null. */
async function runSteps(build: RunningBuild, commands: readonly BuildCommand[]): Promise<string | null> {
  const { plan, output } = build;
  const runner = new StepRunner(build);
  const parts = new OptionalParts(build);
  try {
    let layer: string | null = null;
    for (const dependencies of plan.dependencies) {
      await parts.run(dependencies, async () => {
        const tree = await prepareDependencies(dependencies, build, runner, plan.steps.length + commands.length > 0);
        layer = tree ?? layer;
      });
    }
    const where = layer === null ? {} : { layer: { tree: layer, writable: false } };
    for (const step of plan.steps) {
      if (await runner.isDone(step)) continue;
      await parts.run(step, async () => {
        output.say(step.name);
        await runner.run(step, where);
      });
    }
    for (const { from, command } of commands) {
      output.say(from === 'hooks.build' ? `hook: ${command}` : `${from}: ${command}`);
      await runner.run({ name: `${from}: ${command}`, run: ['/bin/sh', '-c', command] }, { ...where, verbatim: true });
    }
    return layer;
  } finally {
    await runner.close();
  }
}
