/** What people have set on an app in place of files in its source; in effect with the next deploy, and kept with its release. */
import { withoutTrailing } from '../../lib/without-trailing.ts';
import { PlatformError } from '../errors.ts';

export interface AppSettings {
  /** Process name -> command; before what the source says. */
  readonly startCommands: Readonly<Record<string, string>>;
  /** In place of the platform's build steps; '' for none. */
  readonly buildCommand: string;
  /** The directory of the source that is the app; '' for all of it. */
  readonly root: string;
  /** Packages that are only for development stay in what runs. */
  readonly keepDevPackages: boolean;
  /** Process name -> how many units. */
  readonly counts: Readonly<Record<string, number>>;
  /** Volume -> where it is mounted; unlike the others in effect at once. */
  readonly mounts: Readonly<Record<string, SetMount>>;
}

interface SetMount {
  readonly path: string;
  /** Empty: all. */
  readonly processes: readonly string[];
}

export const NO_SETTINGS: AppSettings = {
  startCommands: {},
  buildCommand: '',
  root: '',
  keepDevPackages: false,
  counts: {},
  mounts: {},
};

/** Absent: as before; an empty text takes the setting away. */
export interface SettingsChange {
  /** Process name -> command. */
  readonly startCommands?: unknown;
  readonly buildCommand?: unknown;
  readonly root?: unknown;
  readonly keepDevPackages?: unknown;
}

const MAX_COMMAND = 4_096;
const MAX_ROOT = 255;
const MAX_PROCESSES = 50;
const PROCESS_NAME = /^(?!(?:tancho|release)$)[A-Za-z][A-Za-z0-9_-]{0,62}$/;

/** Throws `input.invalid`. */
export function changedSettings(settings: AppSettings, change: SettingsChange): AppSettings {
  const { startCommands, buildCommand, root, keepDevPackages } = change;
  return {
    ...settings,
    ...(startCommands !== undefined && { startCommands: mergedCommands(settings.startCommands, startCommands) }),
    ...(buildCommand !== undefined && { buildCommand: command(buildCommand, 'The build command') }),
    ...(root !== undefined && { root: directory(root) }),
    ...(keepDevPackages !== undefined && { keepDevPackages: flag(keepDevPackages) }),
  };
}

/** Throws `input.invalid`. */
export function checkProcessName(name: string): string {
  if (PROCESS_NAME.test(name)) return name;
  throw invalid(
    `${JSON.stringify(name.slice(0, 80))} is no name of a process.`,
    'It starts with a letter and has letters, digits, - and _; "tancho" and "release" are taken.',
  );
}

function mergedCommands(before: AppSettings['startCommands'], given: unknown): Record<string, string> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalid('startCommands is a JSON object.', 'Send for example {"web": "node server.js"}.');
  }
  const merged = { ...before };
  for (const [name, value] of Object.entries(given)) {
    const text = command(value, `The start command of ${checkProcessName(name)}`);
    if (text === '') delete merged[name];
    else merged[name] = text;
  }
  if (Object.keys(merged).length > MAX_PROCESSES) {
    throw invalid(`An app has at most ${MAX_PROCESSES} processes.`, 'Set an empty command for those that are to go.');
  }
  return merged;
}

function command(value: unknown, what: string): string {
  const text = typeof value === 'string' ? value.trim() : null;
  if (text !== null && text.length <= MAX_COMMAND && !/\p{Cc}/u.test(text)) return text;
  throw invalid(`${what} must be one line of at most ${MAX_COMMAND} characters.`, 'Put longer ones into a script.');
}

function directory(value: unknown): string {
  const text = typeof value === 'string' ? withoutTrailing(value.trim().replace(/^(?:\.\/)+/, ''), '/') : null;
  if (text === '' || text === '.') return '';
  const isPath =
    text !== null &&
    text.length <= MAX_ROOT &&
    !/\p{Cc}|\\/u.test(text) &&
    text.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  if (isPath) return text;
  throw invalid('The root is not a directory within the source.', 'Send a relative path such as apps/web.');
}

function flag(value: unknown): boolean {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false' || value === '') return false;
  throw invalid('keepDevPackages is true or false.', 'Send for example true.');
}

function invalid(message: string, hint: string): PlatformError {
  return new PlatformError('input.invalid', message, { hint });
}
