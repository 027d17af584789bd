/** The end of a build: how the app is started when it does not say, and the manifest. */
import { dirname, join } from 'node:path';
import type { AppFiles } from '../../../build-plan/app-files/app-files.ts';
import { platformVariables } from './environment.ts';
import { noProcess } from './failures.ts';
import { holds } from './platform-file/conditions.ts';
import type { RunningBuild } from './running-build.ts';
import { fill } from './templates.ts';

/** Throws Failure `no_process`. */
export async function defaultProcesses(build: RunningBuild): Promise<Record<string, string>> {
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

/** `layer` is the tree of the dependency layer, or null. */
export async function writeManifest(build: RunningBuild, appFiles: AppFiles, layer: string | null): Promise<void> {
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
