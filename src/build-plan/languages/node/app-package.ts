/** Which package of a source is the app: the one at the top, the one that is asked for, or the only one that starts. */
import type { PlanProblem } from '../../build-plan.ts';
import type { AppDeclaration } from '../../language.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { findFramework, type Framework } from './frameworks.ts';
import { type PackageJson, readPackageJson } from './package-json.ts';
import type { PackageManager } from './package-manager.ts';
import { builtPages, type Start, startOf } from './start.ts';
import { type Member, readWorkspace } from './workspace.ts';

export interface AppPackage {
  /** '' is the top. */
  readonly directory: string;
  /** Of that directory. */
  readonly files: SourceFiles;
  readonly packageJson: PackageJson;
  readonly framework: Framework | null;
  readonly start: Start;
  /** Of the workspace that the source is; null: it is none. */
  readonly members: readonly Member[] | null;
  readonly notes: readonly string[];
  readonly problems: readonly PlanProblem[];
}

/** Runs the scripts of all packages. */
const STARTS_ALL =
  /^(?:npx\s+)?(?:turbo|nx|lerna|concurrently)\b|\bpnpm\s+(?:.*\s)?(?:-r|--recursive|--parallel|--filter)\b|--workspaces?\b|\byarn\s+workspaces?\b/;
const LISTED = 6;

export async function findAppPackage(
  files: SourceFiles,
  top: PackageJson,
  manager: PackageManager,
  asked: AppDeclaration,
): Promise<AppPackage> {
  const members = await readWorkspace(files, top);
  const at = async (directory: string, packageJson: PackageJson): Promise<AppPackage> => {
    const inside = files.below(directory);
    const framework = await findFramework(inside, packageJson);
    const start = await startOf(inside, packageJson, { framework, manager, asked });
    return { directory, files: inside, packageJson, framework, start, members, notes: [], problems: [] };
  };
  if (asked.directory !== '') return at(asked.directory, await readPackageJson(files.below(asked.directory)));
  const whole = await at('', top);
  if (members === null && canBePages(whole)) {
    return { ...whole, start: (await builtPages(files, top, asked)) ?? whole.start };
  }
  if (members === null || asked.processes !== null || asked.options['STATIC_ROOT'] !== undefined) return whole;
  const startsAll = STARTS_ALL.test((top.scripts['start'] ?? '').slice(0, 200));
  if (isStarted(whole) && !startsAll) return whole;
  const apps: AppPackage[] = [];
  for (const { directory, packageJson } of members) {
    const app = await at(directory, packageJson);
    if (await isApp(app)) apps.push(app);
  }
  const [only, other] = apps;
  if (only === undefined || (isStarted(whole) && other !== undefined)) return whole;
  if (other !== undefined) return { ...whole, problems: [whichOne(apps, asked.app, top, manager)] };
  return { ...only, notes: [`The app is ${only.directory}: the only package of the workspace that starts`] };
}

function isStarted({ start }: AppPackage): boolean {
  return Object.keys(start.processes).length > 0;
}

function canBePages({ framework, start }: AppPackage): boolean {
  return framework === null && Object.keys(start.processes).length + start.problems.length === 0;
}

/** A library may have a main file, and be built by what builds sites. */
async function isApp({ start, framework, files }: AppPackage): Promise<boolean> {
  const from = start.processes['web']?.from ?? '';
  if (start.site != null) return framework?.name !== 'Vite' || files.exists('index.html');
  return from.startsWith('scripts.') || from === 'server.js' || (framework !== null && from === framework.name);
}

/** What starts the whole where people run it themselves. */
const STARTS_WHOLE = ['prod', 'production', 'serve'];

function whichOne(
  apps: readonly AppPackage[],
  app: string,
  top: PackageJson,
  { program }: PackageManager,
): PlanProblem {
  const names = apps.slice(0, LISTED).map(({ directory }) => directory);
  const more = apps.length > LISTED ? ', ...' : '';
  const script = STARTS_WHOLE.find((name) => (top.scripts[name] ?? '') !== '');
  const whole = `${program} run ${script ?? '<script>'}`;
  return {
    cause: 'no_process',
    message: `The workspace has several packages that start, and nothing says which of them is the app: ${names.join(', ')}${more}.`,
    hint: `Name it and push again: tancho app update ${app} --root ${names[0] ?? ''}   (or ${names.slice(1).join(', ')}). Where it is none of these, say how it starts, in a file named Procfile: web: ${whole}`,
  };
}
