/** Pure: what a unit's process is told - its command line and its environment. */
import type { UnitSpec } from '../../../domain/units/provisioner.ts';
import type { SlugManifest } from '../../../domain/artifacts/slug.ts';
import { Failure } from '../../../domain/failure.ts';
import { argvOf } from '../../../lib/argv-text.ts';

const STANDARD_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Words that mean something to the shell itself and are lost, or change meaning, behind `exec`. */
const SHELL_WORDS = new Set(
  (
    'if then else elif fi for while until do done case esac function select time coproc ' +
    'alias bg bind break builtin cd command continue declare dirs eval exec exit export fg getopts hash jobs kill let local ' +
    'popd pushd read readonly return set shift shopt source times trap type typeset ulimit umask unalias unset wait'
  ).split(' '),
);

/**
 * True for one program with arguments and nothing else: then the shell can step aside, and signals reach the program itself.
 * When in doubt false, which only keeps the shell in between.
 */
export function isSimpleCommand(command: string): boolean {
  const [word = ''] = command.trim().split(/\s+/, 1);
  if (!/^[A-Za-z0-9_/.][A-Za-z0-9_/.+-]*$/.test(word) || word === '.' || SHELL_WORDS.has(word)) return false;
  return !/[;&|<>()`\n\r#!\\]/.test(command);
}

type Slugs = Pick<SlugManifest, 'image'>;

/** An image is started without a shell, for there may be none in it. */
export function unitArgv(command: string, { image }: Slugs): string[] {
  if (image !== undefined) return argvOf(command) ?? [];
  return ['/bin/sh', '-c', isSimpleCommand(command) ? `exec ${command.trim()}` : command];
}

/** A one-off command: both its outputs are one stream. Throws Failure `exited` when there is no shell that could read it. */
export function oneOffArgv(command: string, { image }: Slugs): string[] {
  if (image === undefined || image.programs.includes('/bin/sh')) return ['/bin/sh', '-c', `exec 2>&1\n${command}`];
  const argv = argvOf(command);
  if (argv !== null && argv.length > 0 && !/[;&|<>()`\n$]/.test(command)) return argv;
  throw new Failure('exited', 'There is no shell in the image of this app that could read such a command.', {
    hint: 'Give one program of the image with its arguments, such as "/app --version".',
  });
}

interface EnvironmentFacts {
  readonly spec: UnitSpec;
  readonly manifest: SlugManifest;
  readonly home: string;
  readonly tmp: string;
  readonly port: number | null;
  /** Of the apps that it is linked to. */
  readonly links?: Readonly<Record<string, string>>;
}

export function unitEnvironment({
  spec,
  manifest,
  home,
  tmp,
  port,
  links = {},
}: EnvironmentFacts): Record<string, string> {
  return {
    LANG: 'C.UTF-8',
    HOME: home,
    TMPDIR: tmp,
    PATH: [...manifest.path, STANDARD_PATH].join(':'),
    TANCHO_APP: spec.app,
    TANCHO_UNIT: spec.name,
    TANCHO_PROCESS: spec.process,
    // What apps of other platforms of this family look for.
    TSURU_APPNAME: spec.app,
    TSURU_PROCESSNAME: spec.process,
    ...links,
    ...manifest.env,
    ...spec.env,
    ...(port === null ? {} : { PORT: `${port}` }),
  };
}
