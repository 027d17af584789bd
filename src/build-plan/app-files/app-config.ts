/** tancho.yaml and the older names of the same file: hooks, health check, processes, options of the platform. */
import type { HealthCheck, Liveness } from '../../domain/apps/app.ts';
import { healthCheckEntry } from './health-check-entry.ts';
import { livenessOf, type ProcessEntry, processEntry } from './process-entry.ts';
import { MAX_PROCESSES, PROCESS_NAME } from './procfile.ts';
import type { DeclaredVolume } from '../../domain/volumes/volume.ts';
import { bindingMap } from './binding-entry.ts';
import { volumeMap } from './volume-entry.ts';
import { YamlNode } from '../yaml-node.ts';

/** In the order they are looked for; the first one there is read. */
export const CONFIG_FILES = ['tancho.yaml', 'tancho.yml', 'tsuru.yaml', 'tsuru.yml', 'app.yaml', 'app.yml'] as const;
/** Manifests of Kubernetes, and settings of other programs, have such names, too. */
const OF_ANYBODY: readonly string[] = ['app.yaml', 'app.yml'];

const KEYS = ['hooks', 'healthcheck', 'processes', 'volumes', 'bindings', 'maintenance_page'];

/** A key of the platform's own section that becomes a default of the environment. */
interface PlatformOption {
  readonly key: string;
  readonly variable: string;
  readonly description: string;
}

export interface AppConfig {
  readonly hooksBuild: readonly string[];
  readonly hooksRelease: readonly string[];
  readonly restartBefore: readonly string[];
  readonly restartAfter: readonly string[];
  readonly healthCheck: HealthCheck | null;
  /** Of the process that answers requests; null when the file says nothing of it. */
  readonly liveness: Liveness | 'off' | null;
  /** Path of the page that is shown while the app is under maintenance; null when the file names none. */
  readonly maintenancePage: string | null;
  /** Null when the file names none. */
  readonly processes: Readonly<Record<string, ProcessEntry>> | null;
  /** Instance -> how its variables are called. */
  readonly bindings: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** By name. */
  readonly volumes: Readonly<Record<string, DeclaredVolume>>;
  /** Variable -> value, from the section named like the platform. */
  readonly options: Readonly<Record<string, string>>;
}

export const NO_CONFIG: AppConfig = {
  hooksBuild: [],
  hooksRelease: [],
  restartBefore: [],
  restartAfter: [],
  healthCheck: null,
  liveness: null,
  maintenancePage: null,
  processes: null,
  bindings: {},
  volumes: {},
  options: {},
};

export interface ConfigContext {
  /** The name of the platform's own section; null: it has none. */
  readonly section: string | null;
  readonly options: readonly PlatformOption[];
  /** Called with a message for each key that is skipped: files with a foreign name may hold keys meant for other programs. */
  readonly note: (text: string) => void;
}

/** With a name that anybody may use, it says nothing under a key that is known here. Of text that may be no YAML at all. */
export function isForeign(file: string, text: string, { section }: ConfigContext): boolean {
  const keys = [...KEYS, ...(section === null ? [] : [section])].join('|');
  return OF_ANYBODY.includes(file) && !new RegExp(`(?:^|[{,]\\s*)["']?(?:${keys})["']?\\s*:`, 'm').test(text);
}

/** Throws YamlMistake. */
export function parseAppConfig(file: string, text: string, context: ConfigContext): AppConfig {
  const foreign = !file.startsWith('tancho.');
  const ignored = foreign
    ? (key: string) => context.note(`${file}: the key "${key}" means nothing here and was skipped.`)
    : undefined;
  const section = context.section === null ? [] : [context.section];
  const root = YamlNode.parse(file, text);
  const fields = root.fields([...KEYS, ...section], ignored);
  const hooks = fields.get('hooks')?.fields(['build', 'release', 'restart'], ignored);
  const restart = hooks?.get('restart')?.fields(['before', 'after'], ignored);
  const check = fields.get('healthcheck');
  const liveness = check === undefined || check.isEmpty ? undefined : new Map(check.entries()).get('liveness');
  const processes = fields.get('processes');
  return {
    hooksBuild: commands(hooks?.get('build')),
    hooksRelease: commands(hooks?.get('release')),
    restartBefore: commands(restart?.get('before')),
    restartAfter: commands(restart?.get('after')),
    healthCheck: check === undefined || check.isEmpty ? null : healthCheckEntry(check, ['liveness'], ignored),
    liveness: liveness === undefined ? null : livenessOf(liveness),
    maintenancePage: fields.get('maintenance_page')?.text('a path such as public/maintenance.html') ?? null,
    processes: processes === undefined || processes.isEmpty ? null : processMap(processes),
    bindings: bindingMap(fields.get('bindings')),
    volumes: volumeMap(fields.get('volumes')),
    options: options(fields.get(context.section ?? ''), context.options),
  };
}

function commands(node: YamlNode | undefined): string[] {
  if (node === undefined || node.isEmpty) return [];
  return node.texts('a list of commands, one per line starting with "- "');
}

function processMap(node: YamlNode): Record<string, ProcessEntry> {
  if (!node.isMap) throw node.mistake('a mapping of process names to commands, for example "web: node server.js"');
  const entries = node.entries();
  if (entries.length > MAX_PROCESSES) throw node.mistake(`at most ${MAX_PROCESSES} processes`);
  return Object.fromEntries(
    entries.map(([name, entry]) => {
      if (!PROCESS_NAME.test(name))
        throw entry.mistake('named with letters, digits, - and _ only, starting with a letter, and not tancho');
      return [name, processEntry(name, entry)];
    }),
  );
}

function options(node: YamlNode | undefined, known: readonly PlatformOption[]): Record<string, string> {
  if (node === undefined || known.length === 0) return {};
  const fields = node.fields(known.map((option) => option.key));
  const values: Record<string, string> = {};
  for (const option of known) {
    const field = fields.get(option.key);
    if (field !== undefined) values[option.variable] = field.text(option.description);
  }
  return values;
}
