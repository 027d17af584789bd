/** Variables of builds and units that package managers look at. */
import type { Variable } from '../../build-plan.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import type { PackageJson } from './package-json.ts';
import type { PackageManager } from './package-manager.ts';

/** A source that does not say which packages may run scripts of their own was written for an npm that runs all: since 12 it runs none. */
const ALL_SCRIPTS: Variable = {
  name: 'npm_config_dangerously_allow_all_scripts',
  value: 'true',
  scope: 'build',
  since: { program: 'npm', version: '12.0.0' },
};

export async function packageVariables(
  files: SourceFiles,
  { content }: PackageJson,
  { kind, program, isPnp }: PackageManager,
): Promise<Variable[]> {
  const saysWhich = content['allowScripts'] !== undefined || (await files.hasLine('.npmrc', /^\s*[\w-]*allow-scripts/));
  const build = (name: string, value: string): Variable => ({ name, value, scope: 'build' });
  return [
    { name: 'NODE_ENV', value: 'production' },
    { name: 'npm_config_update_notifier', value: 'false' },
    build('npm_config_cache', '{downloads}/npm'),
    build('npm_config_prefer_offline', 'true'),
    build('npm_config_audit', 'false'),
    build('npm_config_fund', 'false'),
    ...(saysWhich ? [] : [ALL_SCRIPTS]),
    ...(program === 'yarn' ? [build('YARN_CACHE_FOLDER', '{downloads}/yarn')] : []),
    ...(kind === 'yarn-berry'
      ? [
          build('YARN_GLOBAL_FOLDER', '{downloads}/yarn-global'),
          build('YARN_NODE_LINKER', isPnp ? 'pnp' : 'node-modules'),
          // Units have the code, and not what lies elsewhere.
          ...(isPnp ? [build('YARN_ENABLE_GLOBAL_CACHE', 'false')] : []),
          { name: 'YARN_ENABLE_TELEMETRY', value: '0' },
        ]
      : []),
    ...(kind === 'bun'
      ? [build('BUN_INSTALL_CACHE_DIR', '{downloads}/bun'), { name: 'DO_NOT_TRACK', value: '1' }]
      : []),
    build('TURBO_TELEMETRY_DISABLED', '1'),
    build('NX_DAEMON', 'false'),
    // For people who develop: a browser for tests (half a gigabyte, of a host of its own), and hooks of a repository that is not there.
    build('CYPRESS_INSTALL_BINARY', '0'),
    build('HUSKY', '0'),
    // pnpm would run itself in another version once more, or write down which (so it is called from 11 on): the one that is asked for is there.
    // Nor is anything to be installed at the start of a script, which would be all of a workspace. Units may be started by it, too.
    ...(kind === 'pnpm'
      ? [
          build('npm_config_manage_package_manager_versions', 'false'),
          { name: 'pnpm_config_pm_on_fail', value: 'ignore' },
          { name: 'pnpm_config_verify_deps_before_run', value: 'false' },
          // As by the step that installs: a build that adds a package may take no other store (SvelteKit's adapter-auto does).
          ...['npm_config', 'pnpm_config'].map((prefix) => build(`${prefix}_store_dir`, '{downloads}/pnpm')),
        ]
      : []),
  ];
}
