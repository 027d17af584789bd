/** The variables of a build and of the slug it makes. */
import { delimiter } from 'node:path';
import { gte } from 'semver';
import type { BuildPlan } from '../../../build-plan/build-plan.ts';
import { fill } from './templates.ts';
import { type FoundProgram, SYSTEM_PATH } from './toolchain/programs.ts';

/** The plan's variables that apply; one whose value names something this build does not have is left out. */
export function planVariables(
  { environment }: Pick<BuildPlan, 'environment'>,
  scope: 'build' | 'run',
  values: Readonly<Record<string, string>>,
  programs: readonly Pick<FoundProgram, 'program' | 'version'>[],
): Record<string, string> {
  const result: Record<string, string> = {};
  for (const { name, value: template, scope: wanted = 'both', since } of environment) {
    if (wanted !== 'both' && wanted !== scope) continue;
    if (since !== undefined && !isThere(since, programs)) continue;
    const value = fill(template, values);
    if (!/\{[a-z-]+\}/.test(value)) result[name] = value;
  }
  return result;
}

/** The program, in that version or a newer one. */
function isThere(
  since: NonNullable<BuildPlan['environment'][number]['since']>,
  programs: readonly Pick<FoundProgram, 'program' | 'version'>[],
): boolean {
  const version = programs.find(({ program }) => program === since.program)?.version;
  return version !== undefined && gte(version, since.version);
}

/** The app's variables win over the platform's; where programs and private directories are is not theirs to say. */
export function buildEnvironment(parts: {
  readonly machine: Readonly<Record<string, string>>;
  readonly platform: Readonly<Record<string, string>>;
  readonly app: Readonly<Record<string, string>>;
  /** Of this step alone. */
  readonly step: Readonly<Record<string, string>>;
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
    ...parts.step,
    PATH: [...new Set([...parts.path, ...SYSTEM_PATH])].join(delimiter),
    HOME: parts.home,
    TMPDIR: parts.temporary,
  };
}
