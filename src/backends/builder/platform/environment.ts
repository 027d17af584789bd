/** The variables of a build and of the slug it makes. */
import { delimiter } from 'node:path';
import { holds } from './platform-file/conditions.ts';
import type { Platform } from './platform-file/platform-file.ts';
import type { SourceFiles } from '../../../build-plan/source/source-files.ts';
import { fill } from './templates.ts';
import { SYSTEM_PATH } from './toolchain/programs.ts';

/** The platform's variables that apply; one whose template names something this build does not have is left out. */
export async function platformVariables(
  platform: Platform,
  scope: 'build' | 'run',
  files: SourceFiles,
  values: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const result: Record<string, string> = {};
  for (const variable of platform.environment) {
    if (variable.scope !== 'both' && variable.scope !== scope) continue;
    if (!(await holds(variable.when, files, platform.facts))) continue;
    const value = fill(variable.value, values);
    if (!/\{[a-z-]+\}/.test(value)) result[variable.name] = value;
  }
  return result;
}

/** The app's variables win over the platform's; where programs and private directories are is not theirs to say. */
export function buildEnvironment(parts: {
  readonly machine: Readonly<Record<string, string>>;
  readonly platform: Readonly<Record<string, string>>;
  readonly app: Readonly<Record<string, string>>;
  readonly path: readonly string[];
  readonly home: string;
  readonly temporary: string;
}): Record<string, string> {
  return {
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
    CI: 'true',
    ...parts.machine,
    ...parts.platform,
    ...parts.app,
    PATH: [...new Set([...parts.path, ...SYSTEM_PATH])].join(delimiter),
    HOME: parts.home,
    TMPDIR: parts.temporary,
  };
}
