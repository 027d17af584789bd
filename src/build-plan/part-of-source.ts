/** An app that is one directory of its source, and needs the rest of it to be built. */
import { AUTO_PLATFORM } from '../domain/platforms/platform.ts';
import type { AppFiles } from './app-files/app-files.ts';
import type { AppDeclaration, Language, PlanParts, SectionOptions } from './language.ts';
import type { SourceFiles } from './source/source-files.ts';

/** Must all of the source stay for this directory of it to be built? `directory`: relative, without `..`. */
export async function isPartOfSource(
  languages: readonly Language[],
  files: SourceFiles,
  directory: string,
  platform: string = AUTO_PLATFORM,
): Promise<boolean> {
  const asked = platform === AUTO_PLATFORM ? languages : languages.filter(({ name }) => name === platform);
  for (const language of asked) if ((await language.isPart?.(files, directory)) === true) return true;
  return false;
}

/** A command that is written for a directory, to be run at the top of the source. */
export function inDirectory(directory: string, command: string): string {
  if (directory === '') return command;
  const quoted = /^[\w./@-]+$/.test(directory) ? directory : `'${directory.replaceAll("'", `'\\''`)}'`;
  return `cd ${quoted} && ${command}`;
}

/** What the files in a directory say, as the files at the top would. */
export function fromDirectory(directory: string, appFiles: AppFiles, options: SectionOptions['keys']): AppFiles {
  if (directory === '') return appFiles;
  const moved = (commands: readonly string[]): string[] => commands.map((command) => inDirectory(directory, command));
  const { config, processes } = appFiles;
  const paths = new Set(options.filter(({ isPath }) => isPath === true).map(({ variable }) => variable));
  const values = Object.entries(config.options).map(([name, value]) => [
    name,
    paths.has(name) ? `${directory}/${value}` : value,
  ]);
  return {
    ...appFiles,
    config: {
      ...config,
      hooksBuild: moved(config.hooksBuild),
      hooksRelease: moved(config.hooksRelease),
      restartBefore: moved(config.restartBefore),
      restartAfter: moved(config.restartAfter),
      options: Object.fromEntries(values) as Record<string, string>,
    },
    processes:
      processes &&
      Object.fromEntries(Object.entries(processes).map(([name, command]) => [name, inDirectory(directory, command)])),
    release: moved(appFiles.release),
  };
}

/** What is set for an app that is a directory, as that directory by itself says it. */
export function asIfAlone(asked: AppDeclaration): AppDeclaration {
  const start = inDirectory(asked.directory, '');
  const processes =
    asked.processes &&
    Object.fromEntries(
      Object.entries(asked.processes).map(([name, command]) => [
        name,
        command.startsWith(start) ? command.slice(start.length) : command,
      ]),
    );
  return { ...asked, directory: '', processes };
}

/** The plan of a directory by itself, carried out within the whole source. */
export function planWithin(directory: string, parts: PlanParts): PlanParts {
  const { steps = [], path = [], processes = {} } = parts;
  return {
    ...parts,
    title: `${parts.title}, the directory ${directory}`,
    steps: steps.map((step) => ({ ...step, directory })),
    path: path.map((each) => `${directory}/${each}`),
    processes: Object.fromEntries(
      Object.entries(processes).map(([name, { command, from }]) => [
        name,
        { command: inDirectory(directory, command), from },
      ]),
    ),
  };
}
