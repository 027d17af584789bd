/**
 * Shows a process the volumes it has. With bubblewrap they are mounted over a directory of the process's own view of its code; else the
 * code gets a link to them, for there all see the files of the machine itself.
 */
import { lstat, mkdir, readlink, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { UnitSpec, VolumeMount } from '../../../domain/units/provisioner.ts';
import { Failure } from '../../../domain/failure.ts';
import { restrictionPath, volumePath } from '../../../domain/volumes/volume-host.ts';
import { inTime } from '../../../lib/deadline.ts';
import { randomHex } from '../../../lib/ids.ts';
import { isThere } from '../../../lib/is-there.ts';
import { childEnd } from '../../../sandbox/child-end.ts';
import type { Sandbox, SandboxBind } from '../../../sandbox/sandbox.ts';
import type { CodePlace } from './code-layers.ts';
import type { Slug } from './slug.ts';

interface VolumeMounts {
  readonly sandbox: Sandbox;
  /** Directory of all volumes. */
  readonly volumes: string;
  readonly spec: Pick<UnitSpec, 'app' | 'volumes' | 'limits'>;
  readonly slug: Slug;
  /** The process's own view of the code. */
  readonly place: CodePlace;
  /** A command or a shell beside the units: it writes volumes that these may read only. */
  readonly isBeside?: boolean;
}

const MOST_LINKS = 40;
/** Of a program that makes a link. */
const DEADLINE_MS = 30_000;

/** What the process is to see beside its code. Throws Failure `internal`, `invalid_config`. */
export async function mountVolumes(options: VolumeMounts): Promise<SandboxBind[]> {
  const { sandbox, volumes, spec } = options;
  const binds: SandboxBind[] = [];
  for (const mount of spec.volumes ?? []) {
    const directory = join(volumes, volumePath({ app: spec.app, name: mount.name }));
    await demandThere(directory, mount);
    await sandbox.own(directory, spec.app);
    if (sandbox.level !== 'bubblewrap') await link(options, mount, directory);
    else {
      const isRestricted = await isThere(join(volumes, restrictionPath({ app: spec.app, name: mount.name })));
      const writable = options.isBeside === true || !isRestricted;
      binds.push({ ...(await bindOf(options, mount, directory)), writable });
    }
  }
  return binds;
}

/** Never made here: an empty one in the place of one that is missing would be taken for lost data, or lose it. */
async function demandThere(directory: string, { name }: VolumeMount): Promise<void> {
  const found = await stat(directory).catch(() => null);
  if (found?.isDirectory() === true) return;
  throw new Failure('internal', `The directory of the volume ${name} is not on this machine.`, {
    hint: `An operator can bring it back from a backup, to ${directory}.`,
  });
}

/**
 * The mount point is made in the process's own, new view, which nobody else can change: a link in the place of one of its directories
 * would lead whoever makes others there astray. Where no layer can be put over an image all its units change the same root; what is missing
 * there the sandbox makes, as the tenant.
 */
async function bindOf(
  { sandbox, slug, place, spec }: VolumeMounts,
  mount: VolumeMount,
  path: string,
): Promise<SandboxBind> {
  const { image } = slug.manifest;
  if (image === undefined) {
    if (posix.isAbsolute(mount.path)) return { path, writable: true, at: mount.path };
    const made = await makeDirectories(place.path, mount.path.split('/'), { mount, isOwn: true });
    if (made !== null) await sandbox.own(made, spec.app);
    return { path, writable: true, at: join(slug.code, mount.path) };
  }
  const at = await followed(place.path, posix.resolve(image.directory, mount.path), mount);
  const isOwn = place.path !== slug.code;
  const made = await makeDirectories(place.path, at.split('/').slice(1), { mount, isOwn });
  if (made !== null) await sandbox.own(made, spec.app);
  return { path, writable: true, at, ...(at.lastIndexOf('/') > 0 && { within: true }) };
}

/** Answers the topmost that was made. None is where the root is not the process's own. */
async function makeDirectories(
  root: string,
  parts: readonly string[],
  { mount, isOwn }: { readonly mount: VolumeMount; readonly isOwn: boolean },
): Promise<string | null> {
  let path = root;
  let first: string | null = null;
  for (const part of parts) {
    path = join(path, part);
    const found = await lstat(path).catch(() => null);
    if (found === null) {
      if (!isOwn) return null;
      await mkdir(path, { mode: 0o755 });
      first ??= path;
    } else if (!found.isDirectory()) {
      throw inTheWay(mount, found.isSymbolicLink() ? 'a link' : 'a file');
    }
  }
  return first;
}

/** The path with the links of the image resolved within it, as far as it is there. */
async function followed(root: string, path: string, mount: VolumeMount): Promise<string> {
  let rest = path.split('/').filter((part) => part !== '');
  let done = '/';
  for (let links = 0; rest.length > 0;) {
    const [part = '', ...others] = rest;
    const next = posix.resolve(done, part);
    const found = part === '..' ? null : await lstat(join(root, next)).catch(() => null);
    if (found?.isSymbolicLink() !== true) {
      done = next;
      rest = others;
      continue;
    }
    links += 1;
    if (links > MOST_LINKS) throw inTheWay(mount, 'a link without end');
    const target = await readlink(join(root, next));
    if (posix.isAbsolute(target)) done = '/';
    rest = [...target.split('/').filter((step) => step !== '' && step !== '.'), ...others];
  }
  if (done === '/') throw inTheWay(mount, 'the root of the image');
  return done;
}

/** As the tenant, who may change everything in the code meanwhile. */
async function link(options: VolumeMounts, mount: VolumeMount, directory: string): Promise<void> {
  const { slug, spec } = options;
  const { name, path } = mount;
  if (posix.isAbsolute(path) || slug.manifest.image !== undefined) {
    throw new Failure(
      'invalid_config',
      `The volume ${name} cannot be mounted at ${path} on this machine: that takes bubblewrap.`,
      {
        hint: `Mount it below the code: tancho volume mount ${name} data -a ${spec.app}; or ask an operator to install bubblewrap.`,
      },
    );
  }
  const at = join(slug.code, path);
  if ((await readlink(at).catch(() => null)) === directory) return;
  await run(options, ['mkdir', '-p', '--', join(at, '..')], mount);
  // A directory that is empty in the source, to be there, may give way.
  await run(options, ['rmdir', '--ignore-fail-on-non-empty', '--', at], mount).catch(() => undefined);
  await run(options, ['ln', '-s', '-f', '-n', '-T', '--', directory, at], mount);
}

async function run({ sandbox, slug, spec }: VolumeMounts, argv: readonly string[], mount: VolumeMount): Promise<void> {
  const id = `volume-${randomHex(12)}`;
  const started = await sandbox.spawn({
    argv,
    cwd: slug.code,
    env: { PATH: '/usr/bin:/bin' },
    tenant: spec.app,
    binds: [],
    limits: spec.limits,
    stdio: 'ignore',
    dieWithParent: true,
    id,
  });
  try {
    const { ended } = childEnd(sandbox, started, id);
    // Units of the app have the same user, and can stop it.
    const { code } = await inTime(DEADLINE_MS, ended, () => new Error(`${argv[0]} took too long.`));
    if (code !== 0) throw inTheWay(mount, 'a directory with files');
  } catch (error) {
    await sandbox.kill({ ...started, id }, 'SIGKILL');
    throw error;
  } finally {
    await sandbox.release(id);
  }
}

function inTheWay({ name, path }: VolumeMount, what: string): Failure {
  return new Failure('invalid_config', `The volume ${name} cannot be mounted at ${path}: the code has ${what} there.`, {
    hint: `Mount it at another path and push again: tancho volume mount ${name} <path>   (or where tancho.yaml says it)`,
  });
}
