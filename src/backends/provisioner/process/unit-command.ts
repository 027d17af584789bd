/** Pure: what a unit's process is started with - its command line and its environment. */
import type { UnitSpec } from '../../../domain/units/provisioner.ts';
import type { SlugManifest } from '../../../domain/artifacts/slug.ts';
import { Failure } from '../../../domain/failure.ts';
import { argvOf } from '../../../lib/argv-text.ts';
import { shellArgv } from '../../../lib/shell-argv.ts';

const STANDARD_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

type Slugs = Pick<SlugManifest, 'image'>;

/** An image is started without a shell, for there may be none in it. */
export function unitArgv(command: string, { image }: Slugs): string[] {
  if (image !== undefined) return argvOf(command) ?? [];
  return shellArgv(command);
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
