/** Go sources that were written before Go had modules. */
import type { PlanProblem } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';

/** Files of the tools that came before, and where they name the path of the whole. */
const TOOLS: readonly { readonly file: string; readonly path?: string }[] = [
  { file: 'Godeps/Godeps.json', path: 'ImportPath' },
  { file: 'vendor/vendor.json', path: 'rootPath' },
  { file: 'Gopkg.toml' },
  { file: 'Gopkg.lock' },
  { file: 'glide.yaml' },
];
export const FILES_BEFORE_MODULES = TOOLS.map(({ file }) => file);

export async function noModule(files: SourceFiles, app: string): Promise<PlanProblem> {
  let because = '';
  let module = `example.com/${app}`;
  for (const { file, path } of TOOLS) {
    if (!(await files.exists(file))) continue;
    because = ` (it has ${file})`;
    const named = path === undefined ? undefined : await files.jsonValue(file, path);
    if (typeof named === 'string' && /^[A-Za-z0-9][\w.~/-]{0,200}$/.test(named)) module = named;
    break;
  }
  return {
    cause: 'invalid_config',
    message: `There is no go.mod: Go builds modules only, and this source is none${because}.`,
    hint: `Make it one in its directory: go mod init ${module} && go mod tidy. If its packages import each other by another path than that, give that path. Commit go.mod and go.sum and push again.`,
  };
}
