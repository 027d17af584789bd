/** Gives a build its dependencies: from the cache when nothing that decides them has changed, else by running the steps. */
import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../../lib/remove-tree.ts';
import { type Archive, packArchive, unpackArchive } from './cache/archive.ts';
import { layerKey } from './cache/layers.ts';
import type { Layer } from './cache/layers.ts';
import { seal } from './cache/copy-tree.ts';
import { keep, restore } from './cache/restore.ts';
import type { DependencySet, Step } from '../../../build-plan/build-plan.ts';
import type { RunningBuild } from './running-build.ts';
import type { StepRunner } from './steps/step-runner.ts';

/** Returns the tree of a layer that stays outside the code, or null. `changesLater`: steps of the app's own follow. */
export async function prepareDependencies(
  dependencies: DependencySet,
  build: RunningBuild,
  runner: StepRunner,
  changesLater: boolean,
): Promise<string | null> {
  const { context, request, files } = build;
  const { keep: kept, steps } = dependencies;
  if (steps.length === 0) return null;
  const versions = Object.fromEntries(build.programs.map((program) => [program.program, program.version]));
  for (const [index, fetched] of build.fetched.entries()) versions[`fetched-${index}`] = fetched.version;
  if (build.base !== null) versions['base'] = build.base.image.split('@')[1] ?? '';
  const plain = steps.map((step) => step.run);
  const neverKept = typeof dependencies.neverKept === 'string';
  // Files that steps of the app may rewrite, or that are no safer in the cache than in the code, are not shared with it.
  const isArchive = kept.kind !== 'layer' && (changesLater || !context.separated || isNested(kept.directory));
  const form = isArchive ? 'archive' : 'tree';
  const key = await layerKey({ dependencies, steps: plain, versions, files, variables: request.env, form });
  const layer = await context.layers.find(request.app, neverKept ? `${key}-${request.deployId}` : key);
  if (layer.ready) await context.layers.touch(request.app, layer);
  if (kept.kind === 'layer') return stayingLayer(dependencies, layer, steps, build, runner);
  const what = { name: dependencies.name, directory: kept.directory, layer, steps, neverKept, isArchive };
  await restoredDirectory(what, build, runner);
  return null;
}

/** The app may put a link in the place of a directory above it: the server itself touches nothing there. */
function isNested(directory: string): boolean {
  return directory.includes('/');
}

async function stayingLayer(
  dependencies: DependencySet,
  layer: Layer,
  steps: readonly Step[],
  build: RunningBuild,
  runner: StepRunner,
): Promise<string> {
  const { context, request, output } = build;
  if (layer.ready) {
    output.say(`${dependencies.name}: unchanged`);
    return layer.tree;
  }
  await context.layers.begin(request.app, layer);
  try {
    await mkdir(layer.tree, { mode: 0o755 });
    await context.sandbox.own(layer.tree, request.app);
    for (const step of steps) {
      output.say(step.name);
      await runner.run(step, { layer: { tree: layer.tree, writable: true } });
    }
    await seal(layer.tree);
    await context.layers.finish(request.app, layer);
  } catch (error) {
    await context.layers.discard(request.app, layer);
    throw error;
  }
  return layer.tree;
}

interface Restored {
  readonly name: string;
  readonly directory: string;
  readonly layer: Layer;
  readonly steps: readonly Step[];
  readonly neverKept: boolean;
  /** The layer holds an archive, of which the code gets its own copy; else the code shares files with it. */
  readonly isArchive: boolean;
}

async function restoredDirectory(what: Restored, build: RunningBuild, runner: StepRunner): Promise<void> {
  const { context, request, place, output } = build;
  const { name, layer } = what;
  const target = join(place.code, what.directory);
  const archive: Archive = { tree: layer.tree, code: place.code, directory: what.directory, tenant: request.app };
  const putBack = async (): Promise<void> => {
    if (what.isArchive) return unpackArchive(archive, runner);
    await restore({
      tree: layer.tree,
      target,
      staging: join(place.directory, 'staging'),
      own: (path) => context.sandbox.own(path, request.app),
    });
  };
  // What the source itself carries in this place would mix with what the steps make.
  if (!isNested(what.directory)) await removeTree(target);
  else if ((await lstat(target).catch(() => null)) !== null)
    await runner.run({ name: 'rm', run: ['rm', '-rf', '--', what.directory] });
  if (layer.ready) {
    const begun = performance.now();
    await putBack();
    output.say(`${name}: unchanged, restored in ${Math.round(performance.now() - begun)} ms`);
    return;
  }
  for (const step of what.steps) {
    output.say(step.name);
    await runner.run(step);
  }
  if (what.neverKept) return;
  await context.layers.begin(request.app, layer);
  try {
    const isKept = what.isArchive
      ? await packArchive(archive, context.sandbox, runner)
      : await keep(target, layer.tree);
    if (!isKept) return await context.layers.discard(request.app, layer);
    await context.layers.finish(request.app, layer);
  } catch (error) {
    await context.layers.discard(request.app, layer);
    throw error;
  }
  // An archive was made beside what is in the code.
  if (!what.isArchive) await putBack();
}
