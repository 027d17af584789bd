/** Rust as rustup installs it: `cargo` is a link to rustup, which runs one of the toolchains in a home that builds do not see. */
import { execFile } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const ASK_MS = 60_000;

type Environment = Readonly<Record<string, string | undefined>>;

/** Where rustup puts its links; it is on the PATH of a login, not on that of a service. None: without a home. */
export function rustupPlaces({ CARGO_HOME, HOME }: Environment): string[] {
  if (CARGO_HOME !== undefined && CARGO_HOME !== '') return [join(CARGO_HOME, 'bin')];
  return HOME === undefined || HOME === '' ? [] : [join(HOME, '.cargo', 'bin')];
}

/** The program of the default toolchain that a link of rustup stands for; null: there is none. Other programs are themselves. */
export async function behindRustup(path: string, environment: Environment): Promise<string | null> {
  const real = await realpath(path).catch(() => path);
  const rustup = join(dirname(path), 'rustup');
  if (basename(real) !== 'rustup' || basename(path) === 'rustup') return path;
  // Nothing is fetched for an answer, and no rust-toolchain file of a directory has a say in it.
  const env = { ...environment, RUSTUP_AUTO_INSTALL: '0' };
  const answer = await promisify(execFile)(rustup, ['which', basename(path)], { env, cwd: '/', timeout: ASK_MS }).catch(
    () => null,
  );
  const found = answer?.stdout.trim() ?? '';
  return found.startsWith('/') ? found : null;
}
