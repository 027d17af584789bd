/** Pure: what an image says about how it is run. */
import { Failure } from '../../../domain/failure.ts';
import { posix } from 'node:path';
import { isRecord } from '../../../lib/is-record.ts';
import { unfit } from './failures.ts';
import { type ImageHealth, imageHealth } from './image-health.ts';
import { jsonOf, type ImagePlatform, record } from './manifests.ts';

export interface ImageConfig {
  /** Program and arguments; at least one. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute and without `..`. */
  readonly directory: string;
  /** As written: a name or number, perhaps with a group behind a colon; '' for none. */
  readonly user: string;
  readonly ports: readonly number[];
  /** Directories that are to be there. */
  readonly volumes: readonly string[];
  readonly health: ImageHealth;
}

const MAX_ARGV_BYTES = 32_768;
const MAX_ENV_BYTES = 128 * 1024;
const MAX_VOLUMES = 100;
const MAX_PORTS = 100;

/** Throws Failure `invalid_source`, `no_process`. */
export function readImageConfig(text: string, processor: ImagePlatform): ImageConfig {
  const document = record(jsonOf(text, 'configuration'), 'its configuration');
  const { os = 'linux', architecture = processor.architecture } = document;
  if (os !== 'linux' || architecture !== processor.architecture) {
    const made = `${String(os)}/${String(architecture)}`.replace(/[^\w/.-]/g, '?').slice(0, 60);
    const hint = `Build it for linux/${processor.architecture} and push it again.`;
    throw unfit(`it is made for ${made}, and this machine is linux/${processor.architecture}.`, hint);
  }
  const config = record(document['config'] ?? {}, 'its configuration');
  const { Entrypoint, Cmd, Env, WorkingDir, User, ExposedPorts, Volumes, Labels, Healthcheck } = config;
  const ports = portsOf(ExposedPorts);
  const argv = [...words(Entrypoint, 'Entrypoint'), ...words(Cmd, 'Cmd')];
  if (argv.length === 0 || argv[0] === '') {
    throw new Failure(
      'no_process',
      'The image does not say what is to be run: it has neither an Entrypoint nor a Cmd.',
      {
        hint: 'Give it one (ENTRYPOINT or CMD), push it and deploy again.',
      },
    );
  }
  if (Buffer.byteLength(argv.join(' ')) > MAX_ARGV_BYTES) throw unfit('its command line is too long.');
  return {
    argv,
    env: environment(words(Env, 'Env')),
    directory: absolute(textOf(WorkingDir, 'WorkingDir')),
    user: textOf(User, 'User'),
    ports,
    volumes: namesOf(Volumes).slice(0, MAX_VOLUMES).map(absolute),
    health: imageHealth(record(Labels ?? {}, 'its labels'), Healthcheck, ports),
  };
}

function words(value: unknown, what: string): string[] {
  if (value === undefined || value === null) return [];
  const isGood = Array.isArray(value) && value.every((word) => typeof word === 'string' && !word.includes('\0'));
  if (!isGood) throw unfit(`its ${what} is not a list of texts.`);
  return value as string[];
}

function textOf(value: unknown, what: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string' || value.includes('\0') || value.length > 4_000)
    throw unfit(`its ${what} is not a text.`);
  return value;
}

function environment(list: readonly string[]): Record<string, string> {
  if (Buffer.byteLength(list.join('\n')) > MAX_ENV_BYTES) throw unfit('its Env is too large.');
  const pairs = list.map((entry) => /^([^=]+)=(.*)$/s.exec(entry)).filter((match) => match !== null);
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value]));
}

/** Within the root, wherever `..` might lead. */
function absolute(path: string): string {
  return posix.resolve('/', path);
}

function portsOf(value: unknown): number[] {
  const numbers = namesOf(value).map((name) => Number(/^(\d{1,5})(?:\/tcp)?$/.exec(name)?.[1] ?? 0));
  return numbers.filter((port) => port > 0 && port < 65_536).slice(0, MAX_PORTS);
}

function namesOf(value: unknown): string[] {
  if (!isRecord(value)) return [];
  return Object.keys(value).filter((name) => !name.includes('\0') && name.length <= 4_000);
}
