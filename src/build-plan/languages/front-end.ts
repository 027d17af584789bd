/** Pages of an app in another language whose scripts and styles are built by Node. */
import type { PlanParts } from '../language.ts';
import type { AppDeclaration } from '../language.ts';
import type { SourceFiles } from '../source/source-files.ts';
import { nodejs } from './node/node.ts';

type FrontEnd = Required<Pick<PlanParts, 'tools' | 'environment' | 'dependencies' | 'steps' | 'notes' | 'problems'>>;

export const NO_FRONT_END: FrontEnd = {
  tools: [],
  environment: [],
  dependencies: [],
  steps: [],
  notes: [],
  problems: [],
};

/** Nothing where package.json has no build script. */
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
    problems: plan.problems ?? [],
  };
}
