import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { describePlan } from '../../build-plan/description.ts';
import { INHERITABLE, LANGUAGES } from '../../build-plan/languages/built-in.ts';
import { isPartOfSource } from '../../build-plan/part-of-source.ts';
import { planSource } from '../../build-plan/plan-source.ts';
import { directoryReader } from '../../build-plan/source/directory.ts';
import { SourceFiles } from '../../build-plan/source/source-files.ts';
import { writtenLanguage } from '../../build-plan/written/written-language.ts';
import type { Cli } from '../cli.ts';
import { CliError, UsageError } from '../errors.ts';
import { readFileOrInput } from '../input.ts';
import { printable } from '../output.ts';

/** As for apps: what the source is. */
const AUTO = 'auto';

interface PlanOptions {
  readonly platform: string;
  readonly definition?: string;
  readonly app: string;
  readonly root?: string;
}

export function registerBuild(build: Command, cli: Cli): void {
  build
    .command('plan')
    .description('Show how a directory would be built, without building it and without a server')
    .argument('[directory]', 'the source of an app', '.')
    .option('--platform <platform>', 'as which platform', AUTO)
    .option('--definition <file>', 'the definition of a platform that an admin has added; - is standard input')
    .option('--root <directory>', 'only this directory of it is the app')
    .option('-a, --app <app>', 'as which app', 'app')
    .action((directory: string, options: PlanOptions) => showPlan(cli, directory, options))
    .addHelpText('after', '\nEnds with 1 when the app could not be built or would not run.');
}

async function showPlan(
  cli: Cli,
  directory: string,
  { platform, definition, app, root = '' }: PlanOptions,
): Promise<void> {
  const path = resolve(cli.context.cwd, directory);
  if (
    !(await stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    ))
  ) {
    throw new UsageError(
      `${directory} is not a directory.`,
      'Name the directory of the source: tancho build plan <directory>',
    );
  }
  if (definition !== undefined && platform === AUTO) {
    throw new UsageError(
      'A definition needs the name of its platform.',
      'tancho build plan --platform <name> --definition <file>',
    );
  }
  const added =
    definition === undefined ? [] : [writtenLanguage(platform, await readFileOrInput(cli, definition), INHERITABLE)];
  const languages = [...LANGUAGES, ...added];
  const whole = new SourceFiles(directoryReader(path));
  const part = root
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .join('/');
  if (part.split('/').includes('..'))
    throw new UsageError('The root leads out of the source.', 'Name a directory in it.');
  const isPart = part !== '' && (await isPartOfSource(languages, whole, part, platform));
  const source = isPart ? { files: whole, directory: part } : { files: whole.below(part) };
  const { plan } = await planSource({ app, platform, languages, ...source }).catch(rethrow);
  cli.show(plan, () => describePlan(plan).map(printable).join('\n'));
  if (plan.problems.length > 0) cli.exitCode = 1;
}

function rethrow(error: unknown): never {
  const { code, hint } = error as { code?: unknown; hint?: unknown };
  if (!(error instanceof Error) || typeof code !== 'string' || typeof hint !== 'string') throw error;
  throw new CliError(error.message, hint, { cause: error });
}
