/** The files in which an app describes itself to the platform: the Procfile and tancho.yaml. */
import { ROUTED_PROCESS } from '../../domain/units/unit.ts';
import type { ProcessSettings } from '../../domain/deploys/builder.ts';
import { Failure } from '../../domain/failure.ts';
import { CONFIG_FILES, isForeign, NO_CONFIG, parseAppConfig } from './app-config.ts';
import type { AppConfig, ConfigContext } from './app-config.ts';
import { hasKnownKey, readAppJson } from './app-json.ts';
import { type OtherPlatforms, readOtherPlatforms } from './other-platforms.ts';
import { parseProcfile } from './procfile.ts';
import { readMaintenancePage } from './maintenance-page.ts';
import type { ProcessEntry } from './process-entry.ts';
import type { NewVariable } from '../build-plan.ts';
import type { SourceFiles } from '../source/source-files.ts';
import { YamlMistake } from '../yaml-node.ts';

/** The line of a Procfile, or the entry, that is no process: it runs once per new version. */
const RELEASE_PROCESS = 'release';

export interface AppFiles {
  readonly config: AppConfig;
  /** Null when the app names none and the platform's defaults apply. */
  readonly processes: Readonly<Record<string, string>> | null;
  /** By process name. */
  readonly settings: Readonly<Record<string, ProcessSettings>>;
  /** Run once per new version, in this order. */
  readonly release: readonly string[];
  /** HTML; '' where the app names no page. */
  readonly maintenancePage: string;
  /** Of app.json. */
  readonly variables: readonly NewVariable[];
  /** The file that names the processes; '' without any. */
  readonly processesFrom: string;
}

/** Throws Failure `invalid_config`. `pages`: where the page for maintenance lies. */
export async function readAppFiles(
  files: SourceFiles,
  context: ConfigContext,
  pages: SourceFiles = files,
): Promise<AppFiles> {
  const text = await files.text('Procfile', 'mark');
  const procfile = text === null ? {} : parseProcfile(text);
  const { file, config } = await readConfig(files, context);
  const appJson = readAppJson(await appJsonOf(files, context));
  for (const text of appJson.notes) context.note(text);
  const written = writtenBy(config.processes ?? {});
  const hasProcfile = Object.keys(procfile).length > 0;
  if (hasProcfile && Object.keys(written).length > 0) {
    throw new Failure('invalid_config', `Both Procfile and ${file} name the commands of processes.`, {
      hint: `Keep the commands in one of them and remove the others; beside a Procfile ${file} may give a process its count, watch_seconds and liveness.`,
    });
  }
  const { [RELEASE_PROCESS]: command, ...processes } = { ...procfile, ...written };
  if (command !== undefined && config.hooksRelease.length > 0) {
    const where = hasProcfile ? 'Procfile' : file;
    throw new Failure(
      'invalid_config',
      `Both "${RELEASE_PROCESS}" in ${where} and hooks.release in ${file} are there.`,
      {
        hint: 'Keep the commands that run once per new version in one of them and push again.',
      },
    );
  }
  const own = Object.keys(processes).length > 0 ? processes : null;
  const others = await readOtherPlatforms(files);
  for (const text of others.notes) context.note(text);
  const started = own === null && others.start !== null ? { [ROUTED_PROCESS]: others.start.command } : own;
  return {
    config: withOthers(config, others, context),
    processes: started,
    processesFrom: own === null ? (others.start?.from ?? '') : hasProcfile ? 'Procfile' : file,
    settings: settingsOf(config, file, appJson.settings),
    maintenancePage:
      config.maintenancePage === null ? '' : await readMaintenancePage(pages, config.maintenancePage, file),
    variables: appJson.variables,
    release: releaseOf(command, config, others),
  };
}

/** Expo has a file of this name, too, and reads more than JSON. */
async function appJsonOf(files: SourceFiles, { note }: ConfigContext): Promise<unknown> {
  try {
    return await files.json('app.json');
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const read = await files.foreignJson('app.json');
    if (hasKnownKey(read) && (await files.foreignJson('app.json', 'refused')) === null) throw error;
    if (!hasKnownKey(read)) note(`app.json is left to other programs: ${error.message}`);
    return read;
  }
}

/** What the app says for this platform comes before what it says for others. */
function releaseOf(command: string | undefined, config: AppConfig, others: OtherPlatforms): readonly string[] {
  if (command !== undefined) return [command];
  if (config.hooksRelease.length > 0 || others.release === null) return config.hooksRelease;
  return [others.release];
}

function withOthers(config: AppConfig, { healthPath, site }: OtherPlatforms, { section }: ConfigContext): AppConfig {
  const { root, fallback } = section === 'static' ? site : { root: null, fallback: null };
  return {
    ...config,
    healthCheck: config.healthCheck ?? (healthPath === null ? null : { path: healthPath }),
    options: {
      ...(root !== null && { STATIC_ROOT: root }),
      ...(fallback !== null && { STATIC_FALLBACK: fallback }),
      ...config.options,
    },
  };
}

function writtenBy(entries: Readonly<Record<string, ProcessEntry>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(entries).flatMap(([name, { command }]) => (command === null ? [] : [[name, command]])),
  );
}

/** What tancho.yaml says comes before app.json. */
function settingsOf(
  { processes, liveness }: AppConfig,
  file: string,
  others: Readonly<Record<string, ProcessSettings>>,
): Record<string, ProcessSettings> {
  const entries = Object.entries(processes ?? {}).map(([name, { settings }]) => [name, settings] as const);
  const settings: Record<string, ProcessSettings> = { ...others, ...Object.fromEntries(entries) };
  if (liveness === null) return settings;
  const routed = settings[ROUTED_PROCESS];
  if (routed?.liveness !== undefined) {
    const text = `Both healthcheck.liveness and processes.${ROUTED_PROCESS}.liveness are in ${file}.`;
    throw new Failure('invalid_config', text, {
      hint: `They are the same: keep one of them in ${file} and push again.`,
    });
  }
  return { ...settings, [ROUTED_PROCESS]: { ...routed, liveness } };
}

async function readConfig(files: SourceFiles, context: ConfigContext): Promise<{ file: string; config: AppConfig }> {
  for (const file of CONFIG_FILES) {
    const text = await files.text(file);
    if (text === null) continue;
    try {
      return { file, config: parseAppConfig(file, text, context) };
    } catch (error) {
      if (!(error instanceof YamlMistake)) throw error;
      if (isForeign(file, text, context)) {
        context.note(`${file} is left to other programs, for it has no key that is known here: ${error.message}`);
        continue;
      }
      throw new Failure('invalid_config', error.message, {
        hint: `Correct ${file} and push again; its keys are described in docs/app-files.md.`,
      });
    }
  }
  return { file: CONFIG_FILES[0], config: NO_CONFIG };
}
