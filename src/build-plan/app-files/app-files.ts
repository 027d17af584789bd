/** The files with which an app tells the platform about itself: the Procfile and tancho.yaml. */
import { Failure } from '../../domain/rollouts/rollout.ts';
import { CONFIG_FILES, NO_CONFIG, parseAppConfig } from './app-config.ts';
import type { AppConfig, ConfigContext } from './app-config.ts';
import { parseProcfile } from './procfile.ts';
import type { SourceFiles } from '../source/source-files.ts';
import { YamlMistake } from '../yaml-node.ts';

export interface AppFiles {
  readonly config: AppConfig;
  /** Null when the app names none and the platform's defaults apply. */
  readonly processes: Readonly<Record<string, string>> | null;
}

/** Throws Failure `invalid_config`. */
export async function readAppFiles(files: SourceFiles, context: ConfigContext): Promise<AppFiles> {
  const text = await files.text('Procfile');
  const procfile = text === null ? null : parseProcfile(text);
  const { file, config } = await readConfig(files, context);
  const named = procfile !== null && Object.keys(procfile).length > 0 ? procfile : null;
  if (named !== null && config.processes !== null) {
    throw new Failure('invalid_config', `Both Procfile and ${file} name processes.`, {
      hint: `Keep the processes in one of them and remove the others.`,
    });
  }
  return { config, processes: named ?? config.processes };
}

async function readConfig(files: SourceFiles, context: ConfigContext): Promise<{ file: string; config: AppConfig }> {
  for (const file of CONFIG_FILES) {
    const text = await files.text(file);
    if (text === null) continue;
    try {
      return { file, config: parseAppConfig(file, text, context) };
    } catch (error) {
      if (!(error instanceof YamlMistake)) throw error;
      throw new Failure('invalid_config', error.message, {
        hint: `Correct ${file} and push again; its keys are described in docs/app-files.md.`,
      });
    }
  }
  return { file: CONFIG_FILES[0], config: NO_CONFIG };
}
