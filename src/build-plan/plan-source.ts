/** From a source tree to its build plan: what the app says itself, the language, and what both make of it. */
import { type AppSettings, NO_SETTINGS } from '../domain/apps/app-settings.ts';
import { AUTO_PLATFORM } from '../domain/platforms/platform.ts';
import { Failure } from '../domain/failure.ts';
import { readAppFiles, type AppFiles } from './app-files/app-files.ts';
import type { BuildPlan, PlannedProcess, PlanProblem } from './build-plan.ts';
import { DOCKERFILES, dockerfile } from './languages/dockerfile/dockerfile.ts';
import { composeHint } from './compose/compose-hint.ts';
import { checkSource, chooseLanguages } from './choose-language.ts';
import { detectionOf } from './detection.ts';
import type { AppDeclaration, Language, PlanParts } from './language.ts';
import { isOnlyPages } from './only-pages.ts';
import { fromDirectory, inDirectory } from './part-of-source.ts';
import type { SourceFiles } from './source/source-files.ts';

interface PlanRequest {
  readonly app: string;
  /** `auto`: what the source is. */
  readonly platform: string;
  readonly languages: readonly Language[];
  readonly files: SourceFiles;
  /** Platforms that `auto` does not choose. */
  readonly disabled?: readonly string[];
  /** The part of the files that is the app, where isPartOfSource() says so; absent: all of them. */
  readonly directory?: string;
  /** What is set on the app in place of files in its source; absent: nothing. */
  readonly settings?: Pick<AppSettings, 'startCommands' | 'buildCommand' | 'keepDevPackages'>;
}

interface PlannedSource {
  /** Of an image: within `directory` of the request, which is all that it is built from. */
  readonly plan: BuildPlan;
  readonly appFiles: AppFiles;
  /** Of a shell, run after the steps. */
  readonly commands: readonly BuildCommand[];
}

export interface BuildCommand {
  /** Who says so: `hooks.build`. */
  readonly from: string;
  readonly command: string;
}

/**
 * Takes no longer than reading some files. Throws Failure `no_platform`, `invalid_config`; what else is wrong is among the problems
 * of the plan.
 */
export async function planSource(request: PlanRequest): Promise<PlannedSource> {
  const part = { ...request, files: request.files.below(request.directory ?? '') };
  const compose = await composeHint(request.app, part.files);
  const [first, ...others] = await chooseLanguages(part).catch((error: unknown) => {
    throw withHint(error, compose);
  });
  const planned = await planAs(first, request, compose);
  const unstarted = planned.plan.problems.find(({ cause }) => cause === 'no_process');
  if (unstarted === undefined) return planned;
  // A list of packages may be only for the documentation, or for the tools of its authors.
  for (const language of others) {
    const other = await planAs(language, request, compose).catch(unlessFailure);
    if (other === null || other.plan.problems.length > 0) continue;
    if (showsSource(other.plan) && (mayBeProgram(planned.plan) || !(await isOnlyPages(part.files)))) {
      return withMoreHint(planned, `Where it is only pages: ${asPlatform(request.app, language)}`);
    }
    const note = `It is not taken for ${first.name}: ${unstarted.message}`;
    return { ...other, plan: { ...other.plan, notes: [...other.plan.notes, note] } };
  }
  return planned;
}

function showsSource({ site, steps }: BuildPlan): boolean {
  return site !== null && steps.length === 0;
}

/** Whose code is not for everybody to read. */
function mayBeProgram({ dependencies, steps, processes }: BuildPlan): boolean {
  return dependencies.length + steps.length + Object.keys(processes).length > 0;
}

function withMoreHint(planned: PlannedSource, more: string): PlannedSource {
  const problems = planned.plan.problems.map((problem) => ({ ...problem, hint: `${problem.hint} ${more}` }));
  return { ...planned, plan: { ...planned.plan, problems } };
}

function asPlatform(app: string, { name }: Language): string {
  return `tancho app update ${app} --platform ${name}`;
}

function unlessFailure(error: unknown): null {
  if (error instanceof Failure) return null;
  throw error;
}

async function planAs(language: Language, whole: PlanRequest, compose: readonly string[]): Promise<PlannedSource> {
  const alone = { ...whole, files: whole.files.below(whole.directory ?? ''), directory: '' };
  const request = language.isAlone === true ? alone : whole;
  const { app, files, directory = '' } = request;
  const part = { ...request, files: files.below(directory) };
  const skipped = request.platform === AUTO_PLATFORM ? await takenFor(language, part) : [];
  const { section = null, keys = [] } = language.options ?? {};
  const written = await readAppFiles(part.files, { section, options: keys, note: (text) => skipped.push(text) });
  const appFiles = fromDirectory(directory, written, keys);
  const { config } = appFiles;
  const { buildCommand, keepDevPackages } = request.settings ?? NO_SETTINGS;
  const own = declared(appFiles, request.settings ?? NO_SETTINGS, directory);
  const set = buildCommand === '' ? [] : [{ from: 'build command', command: inDirectory(directory, buildCommand) }];
  const commands = [...set, ...config.hooksBuild.map((command) => ({ from: 'hooks.build', command }))];
  // Who configures a platform means it, even when its files are only made by a hook.
  if (Object.keys(config.options).length === 0) await checkSource(language, part);
  const asked: AppDeclaration = {
    app,
    directory,
    processes: own && Object.fromEntries(Object.entries(own).map(([name, { command }]) => [name, command])),
    buildsItself: commands.length > 0,
    replacesSteps: set.length > 0,
    keepsDevelopment: keepDevPackages,
    options: config.options,
  };
  const parts = await language.plan(files, asked);
  const plan = wholePlan(language, set.length === 0 ? parts : { ...parts, steps: [] }, own);
  const newVariables = [...appFiles.variables, ...plan.newVariables];
  return { plan: { ...plan, newVariables, notes: [...skipped, ...compose, ...plan.notes] }, appFiles, commands };
}

async function takenFor(language: Language, { app, files, settings }: PlanRequest): Promise<string[]> {
  const detection = await detectionOf(language, files, Object.values(settings?.startCommands ?? {}));
  const taken = `The source is taken for ${language.name}: it has ${detection?.because ?? 'files of it'}`;
  const recipe = language.name === dockerfile.name ? null : await files.find(...DOCKERFILES);
  if (recipe === null) return [taken];
  return [taken, `There is a ${recipe}, too. To build by that: ${asPlatform(app, dockerfile)}`];
}

/** Where nothing can be built, what a Compose file names may be all that there is. */
function withHint(error: unknown, compose: readonly string[]): unknown {
  if (!(error instanceof Failure) || compose.length === 0) return error;
  return new Failure(error.code, error.message, { hint: [error.hint, ...compose.map((line) => `${line}.`)].join(' ') });
}

/** Throws Failure: the first problem of a plan, when it has one. */
export function demandBuildable({ problems }: BuildPlan): void {
  const [problem] = problems;
  if (problem !== undefined) throw new Failure(problem.cause, problem.message, { hint: problem.hint });
}

/** What is set on the app comes before its files. */
function declared(
  { processes, processesFrom }: AppFiles,
  { startCommands }: Pick<AppSettings, 'startCommands'>,
  directory: string,
): Record<string, PlannedProcess> | null {
  const written = Object.entries(processes ?? {}).map(([name, command]) => [name, { command, from: processesFrom }]);
  const set = Object.entries(startCommands).map(([name, command]) => [
    name,
    { command: inDirectory(directory, command), from: 'set on the app' },
  ]);
  if (written.length + set.length === 0) return null;
  return Object.fromEntries([...written, ...set]) as Record<string, PlannedProcess>;
}

function wholePlan(language: Language, parts: PlanParts, own: BuildPlan['processes'] | null): BuildPlan {
  const processes = own ?? parts.processes ?? {};
  const problems = [...(parts.problems ?? [])];
  if (Object.keys(processes).length === 0 && problems.length === 0) problems.push(nothingStarts(language));
  return {
    platform: language.name,
    title: parts.title,
    tools: parts.tools ?? [],
    sharedTools: parts.sharedTools ?? [],
    inherit: language.inherit ?? [],
    ask: language.ask ?? [],
    environment: parts.environment ?? [],
    files: parts.files ?? [],
    dependencies: parts.dependencies ?? [],
    steps: parts.steps ?? [],
    image: parts.image ?? null,
    // What starts the app is not known to serve the site.
    site: parts.site == null || own === null ? (parts.site ?? null) : { ...parts.site, otherwise: null },
    processes,
    newVariables: parts.newVariables ?? [],
    path: parts.path ?? [],
    notes: parts.notes ?? [],
    warnings: parts.warnings ?? [],
    problems,
  };
}

function nothingStarts({ name, example }: Language): PlanProblem {
  return {
    cause: 'no_process',
    message: `The app says nowhere how it is started, and ${name} has no default for such a source.`,
    hint: `Add a file named Procfile at the top of the repository with one process per line, for example: web: ${example}`,
  };
}
