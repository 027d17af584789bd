/** Code that needs packages, in a source without a list of them. */
import type { PlanProblem } from '../../build-plan.ts';
import type { FoundLine, SourceFiles } from '../../source/source-files.ts';
import type { DjangoProject } from './django.ts';
import { MANIFESTS } from './packages.ts';

/** Lists in a directory, which are for several places, the one for use first. */
const APART = ['production', 'prod', 'deploy', 'base', 'common', '*'].map((name) => `requirements/${name}.txt`);

export async function notListed(
  files: SourceFiles,
  { file, line }: Pick<FoundLine, 'file' | 'line'>,
  framework: string,
): Promise<PlanProblem> {
  const apart = await files.find(...APART);
  const how =
    apart === null
      ? 'that names one package per line (pip freeze > requirements.txt)'
      : `with the one line "-r ${apart}"`;
  return {
    cause: 'invalid_config',
    message: `${file} line ${line} needs ${framework}, but the source has no list of packages to be installed${apart === null ? '' : ' at its top'}.`,
    hint: `Add a file requirements.txt at the top of the repository ${how}, commit and push again.`,
  };
}

/** Nothing runs without Django, its own commands included. */
export async function djangoNotListed(files: SourceFiles, { manage }: DjangoProject): Promise<PlanProblem[]> {
  if ((await files.find(...MANIFESTS)) !== null) return [];
  const needs = await files.findLine(manage, /\bdjango\b/i);
  return needs === null ? [] : [await notListed(files, needs, 'Django')];
}
