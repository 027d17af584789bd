/** An app of Nx for Node: what its target `build` makes is started. */
import { valueAt, type SourceFiles } from '../../source/source-files.ts';
import type { Framework } from './frameworks.ts';
import type { PackageJson } from './package-json.ts';

/** Their output is run by Node; that of others is for browsers. */
const EXECUTORS = /^@n(?:x|rwl)\/(?:esbuild:esbuild|webpack:webpack|rspack:rspack|js:(?:tsc|swc)|node:\w+)$/;
const PATH = /^(?!.*\.\.)[\w@][\w@./-]*$/;

/** Null where project.json does not say what is made. */
export async function nxFramework(files: SourceFiles, packageJson: PackageJson): Promise<Framework | null> {
  if (!packageJson.wants('nx') || !(await files.exists('nx.json'))) return null;
  const build = valueAt(await files.json('project.json'), ['targets', 'build']);
  const executor = valueAt(build, ['executor']);
  const [output, main, isForBrowsers] = ['outputPath', 'main', 'platform'].map((key) =>
    valueAt(build, ['options', key]),
  );
  if (typeof executor !== 'string' || !EXECUTORS.test(executor) || isForBrowsers === 'browser') return null;
  if (typeof output !== 'string' || !PATH.test(output) || typeof main !== 'string') return null;
  const program = (main.split('/').at(-1) ?? '').replace(/\.[cm]?tsx?$/, '.js');
  if (!PATH.test(program)) return null;
  return {
    name: 'Nx',
    build: ['nx', 'build'],
    runs: { kind: 'server', command: `node ${output}/${program}` },
    afterBuild: () => [],
    environment: [],
    newVariables: [],
  };
}
