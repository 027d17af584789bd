/** The end of a build: what it was to make, and the manifest. */
import { dirname, join } from 'node:path';
import type { BuildPlan } from '../../../build-plan/build-plan.ts';
import { directoryReader } from '../../../build-plan/source/directory.ts';
import { Failure } from '../../../domain/failure.ts';
import type { SlugBase } from '../../../domain/artifacts/slug.ts';
import type { CodeBase } from './base/bases.ts';
import { planVariables } from './environment.ts';
import type { RunningBuild } from './running-build.ts';

interface Finished {
  /** The tree of the layer of dependencies, or null. */
  readonly layer: string | null;
  /** Variables from the app's own files. */
  readonly options: Readonly<Record<string, string>>;
}

export async function writeManifest(build: RunningBuild, { layer, options }: Finished): Promise<void> {
  const { context, plan, place, request, fetched, programs, base } = build;
  const found = base === null ? context.programs : context.programsOn(base);
  const values: Record<string, string> = { app: request.app, code: place.code };
  if (layer !== null) values['layer'] = layer;
  const own = plan.path.map((directory) => join(place.code, directory));
  const path = [...own, ...(layer === null ? [] : [join(layer, 'bin')]), ...fetched.map((tool) => tool.bin)];
  const binds = [...(layer === null ? [] : [layer]), ...fetched.map((tool) => tool.directory)];
  for (const program of programs) {
    if (plan.tools.find((tool) => tool.program === program.program)?.runtime !== true) continue;
    binds.push(...program.binds);
    if (!(await found.isDefault(program))) path.push(dirname(program.path));
  }
  const site = await siteVariables(plan, place.code);
  await context.artifacts.put(place, {
    format: 1,
    platform: plan.platform,
    path: [...new Set([...path, ...(base?.path ?? [])])],
    env: { ...base?.env, ...planVariables(plan, 'run', values, programs), ...site, ...options },
    binds: [...new Set(binds)],
    ...(base !== null && { base: slugBase(base) }),
  });
}

function slugBase({ image, root, home, uid, gid, name }: CodeBase): SlugBase {
  return { image, root, home, uid, gid, name };
}

/** Where the files are that the steps have made. Throws Failure when they are nowhere. */
async function siteVariables({ site }: BuildPlan, code: string): Promise<Record<string, string>> {
  if (site === null) return {};
  const made = directoryReader(code);
  for (const root of site.roots) {
    if ((await made.kind(join(root, site.index))) === 'file') return { [site.variable]: root };
  }
  if (site.otherwise === null) return {};
  const { cause, message, hint } = site.otherwise;
  throw new Failure(cause, message, { hint });
}
