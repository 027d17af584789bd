/** A module that requires others is built only with their checksums. */
import type { PlanProblem } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { directivesOf } from './module-file.ts';

export async function missingSums(files: SourceFiles): Promise<PlanProblem | null> {
  if ((await files.exists('go.sum')) || (await files.exists('vendor/modules.txt'))) return null;
  const directives = await directivesOf(files, 'go.mod');
  // Those from a directory of the source have no checksums.
  const local = directives
    .filter(({ verb, words }) => verb === 'replace' && /^\.{0,2}\//.test(words[words.indexOf('=>') + 1] ?? ''))
    .map(({ words }) => words[0]);
  const required = directives.find(({ verb, words }) => verb === 'require' && !local.includes(words[0]));
  if (required === undefined) return null;
  return {
    cause: 'invalid_config',
    message: `go.mod line ${required.line} requires ${required.words[0] ?? 'a module'}, but there is no go.sum with its checksum.`,
    hint: 'Run "go mod tidy" in the app, commit go.sum (it may be in .gitignore) and push again.',
  };
}
