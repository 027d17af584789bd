/** SvelteKit: what runs its app depends on the adapter that it is built with. */
import { subset, validRange } from 'semver';
import type { PlanProblem } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { MAX_RANGE } from '../../versions.ts';
import type { Runs } from './frameworks.ts';
import type { PackageJson } from './package-json.ts';

/** By this variable adapter-auto takes adapter-node, and installs it where it is not there: since 3.2. */
const ASKED = { GCP_BUILDPACKS: 'true' };
const TOO_OLD = '<3.2.0';
/** By it the server knows how a visitor came: it takes every one for one by https otherwise, and refuses forms of those that came by http. */
const NODE = { kind: 'server', command: 'node build', unitEnv: { PROTOCOL_HEADER: 'x-forwarded-proto' } } as const;

export async function svelteKitRuns(files: SourceFiles, packageJson: PackageJson): Promise<Runs> {
  const written = await files.find('svelte.config.js', 'svelte.config.ts');
  const config = written ?? (await files.find('vite.config.ts', 'vite.config.js')) ?? 'svelte.config.js';
  const imported = await files.findLine(config, /from\s+['"]@sveltejs\/adapter-([\w-]+)['"]/);
  const adapter = imported?.match[1] ?? '';
  if (adapter === 'node') return NODE;
  if (adapter === 'static') {
    const fallback = (await files.findLine(config, /\bfallback\s*:\s*['"]([\w.-]+)['"]/))?.match[1] ?? null;
    return { kind: 'site', roots: ['build'], fallback };
  }
  if (packageJson.wants('@sveltejs/adapter-node') && imported === null) return NODE;
  if (takesAsked(adapter, packageJson)) return { ...NODE, buildEnv: ASKED };
  const where = imported === null ? config : `${config} line ${imported.line}`;
  const problem: PlanProblem = {
    cause: 'no_process',
    message: `${where} builds for ${adapter === '' || adapter === 'auto' ? 'a platform that is found by itself (adapter-auto)' : `another platform (adapter-${adapter})`}, of which nothing runs here.`,
    hint: `Run "npm install -D @sveltejs/adapter-node${fitting(packageJson)}", import the adapter from "@sveltejs/adapter-node" in ${config}, commit and push again.`,
  };
  return { kind: 'nothing', problem };
}

function takesAsked(adapter: string, packageJson: PackageJson): boolean {
  const wanted = adapter === 'auto' ? rangeOf(packageJson, '@sveltejs/adapter-auto') : null;
  return wanted !== null && !subset(wanted, TOO_OLD);
}

/** Each line of SvelteKit has its own. */
function fitting(packageJson: PackageJson): string {
  const kit = rangeOf(packageJson, '@sveltejs/kit');
  if (kit === null) return '';
  return subset(kit, '<2') ? '@1' : subset(kit, '<3') ? '@5' : '';
}

function rangeOf({ dependencies, devDependencies }: PackageJson, name: string): string | null {
  const range = dependencies[name] ?? devDependencies[name] ?? '';
  return range !== '' && range.length <= MAX_RANGE ? validRange(range) : null;
}
