/** Pages of an app in another language whose scripts and styles are built by Node. */
import type { PlanParts } from '../language.ts';
import type { AppDeclaration } from '../language.ts';
import type { SourceFiles } from '../source/source-files.ts';
import { nodejs } from './node/node.ts';

type FrontEnd = Required<
  Pick<PlanParts, 'tools' | 'environment' | 'dependencies' | 'steps' | 'notes' | 'warnings' | 'problems'>
>;

export const NO_FRONT_END: FrontEnd = {
  tools: [],
  environment: [],
  dependencies: [],
  steps: [],
  notes: [],
  warnings: [],
  problems: [],
};
const OPTIONAL = { optional: 'front end' };

/** Nothing where package.json has no build script. The last step removes its packages. */
export async function frontEnd(files: SourceFiles, asked: AppDeclaration): Promise<FrontEnd> {
  const build = await files.jsonValue('package.json', 'scripts.build');
  if (typeof build !== 'string' || build === '') return NO_FRONT_END;
  const plan = await nodejs.plan(files, { ...asked, processes: {} });
  return {
    // What browsers load needs nothing of it any more.
    tools: (plan.tools ?? []).map((tool) => ({ ...tool, runtime: false })),
    environment: (plan.environment ?? []).map((variable) => ({ ...variable, scope: 'build' as const })),
    dependencies: plan.dependencies ?? [],
    steps: [
      ...(plan.steps ?? []),
      { name: 'removing the packages of the front end', run: ['rm', '-rf', 'node_modules'] },
    ],
    notes: ['package.json has a build script: the front end is built by Node', ...(plan.notes ?? [])],
    warnings: [],
    problems: plan.problems ?? [],
  };
}

/** For an app of which nothing says that it needs it: where it cannot be built, a warning says so, and the app is deployed without. */
export async function optionalFrontEnd(files: SourceFiles, asked: AppDeclaration): Promise<FrontEnd> {
  const front = await frontEnd(files, asked);
  const [problem] = front.problems;
  if (problem !== undefined) {
    const warning = `The front end of package.json is not built: ${problem.message} ${problem.hint}`;
    return { ...NO_FRONT_END, warnings: [warning] };
  }
  return {
    ...front,
    dependencies: front.dependencies.map((set) => ({ ...set, ...OPTIONAL })),
    steps: front.steps.map((step, index) => (index === front.steps.length - 1 ? step : { ...step, ...OPTIONAL })),
  };
}
