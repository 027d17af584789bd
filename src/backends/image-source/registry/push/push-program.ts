/** This very program as an image, for servers that run in a cluster: a base with git, the Node that it is tested with, and what it needs of itself. */
import { cp, mkdir, mkdtemp, readFile, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseImageName } from '../../../../domain/deploys/image-name.ts';
import { ORDINARY_USER } from '../../../../domain/artifacts/slug.ts';
import { createAddressGuard } from '../../../../lib/guarded/address-guard.ts';
import { isRecord } from '../../../../lib/is-record.ts';
import type { TarTree } from '../../../../lib/tree-tar.ts';
import { asFailure } from '../failures.ts';
import { IMAGE_LIMITS } from '../limits.ts';
import { RegistryClient } from '../registry-client.ts';
import type { RegistryCredentials } from '../../../../domain/registries/registry-login.ts';
import { packed, publishOn } from './publish-code.ts';

interface ProgramImage {
  readonly host: string;
  readonly repository: string;
  readonly tag: string;
  /** Name of the image that it is put on. */
  readonly base: string;
  readonly login: RegistryCredentials | null;
  /** The login may be sent without TLS. */
  readonly isInsecure: boolean;
  /** Directory with package.json, dist/ and node_modules/. */
  readonly program: string;
  readonly say: (line: string) => void;
}

const AT = '/opt/tancho';
const PARTS = ['bin', 'dist', 'platforms', 'scripts', 'examples'];
const TIMEOUT_MS = 30 * 60_000;
const owned = { uid: 0, gid: 0, isPublic: true };

/** Answers its name with its digest. Throws Failure `push_failed`, `pull_failed`. */
export async function pushProgram(image: ProgramImage): Promise<string> {
  const { host, repository, tag, base, login, isInsecure, program, say } = image;
  const directory = await mkdtemp(join(tmpdir(), 'tancho-image-'));
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const limits = { ...IMAGE_LIMITS, timeoutMs: TIMEOUT_MS };
  // Whoever runs this names both registries.
  const [of] = [parseImageName(base)];
  const allow = [host, of.host].map((name) => name.replace(/:[0-9]+$/, ''));
  const guard = createAddressGuard({ allow, allowLoopback: true, ownPorts: () => [] });
  const client = (name: string, path: string, purpose: 'pull' | 'push'): RegistryClient =>
    new RegistryClient({
      ...{ guard, host: name, repository: path, isInsecure, purpose, signal },
      login: name === host ? login : null,
    });
  const target = client(host, repository, 'push');
  try {
    const own = await packed({ directory, signal }, [
      { trees: await nodeTrees(directory), by: 'tancho: node' },
      { trees: await packageTrees(program), by: 'tancho: packages' },
      { trees: await programTrees(program, directory), by: 'tancho' },
    ]);
    const to = {
      ...{ options: { limits, arch: process.arch }, target, tag, directory, signal },
      push: { client: target, signal },
      line: say,
      reader: () => ({ client: client(of.host, of.repository, 'pull'), reference: of.reference, full: of.full }),
    };
    const digest = await publishOn(to, {
      ...{ base, layers: own, app: 'tancho', code: AT },
      manifest: { env: {}, path: [`${AT}/bin`] },
      processes: { web: 'exec tancho server' },
    });
    return `${host}/${repository}:${tag}@${digest}`;
  } catch (error) {
    throw asFailure(error, signal.aborted ? 'timeout' : null, TIMEOUT_MS, 'push');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Where scripts/node looks for it first. */
async function nodeTrees(directory: string): Promise<TarTree[]> {
  const staged = join(directory, 'node');
  await mkdir(staged);
  await cp(await realpath(process.execPath), join(staged, 'node'), { preserveTimestamps: true });
  return [{ directory: staged, at: `${AT}/.runtime`, ...owned }];
}

/** Without those that only building and testing need. */
async function packageTrees(program: string): Promise<TarTree[]> {
  const lock: unknown = JSON.parse(await readFile(join(program, 'package-lock.json'), 'utf8'));
  const packages = isRecord(lock) && isRecord(lock['packages']) ? lock['packages'] : {};
  const trees: TarTree[] = [];
  for (const [path, facts] of Object.entries(packages).sort(([one], [other]) => (one < other ? -1 : 1))) {
    const isTop = path.lastIndexOf('node_modules/') === 0;
    if (!isTop || (isRecord(facts) && facts['dev'] === true)) continue;
    const found = await stat(join(program, path)).catch(() => null);
    // Of other kinds of machines.
    if (found?.isDirectory() !== true) continue;
    trees.push({ directory: join(program, path), at: `${AT}/${path}`, ...owned });
  }
  return trees;
}

async function programTrees(program: string, directory: string): Promise<TarTree[]> {
  const staged = join(directory, 'program');
  await mkdir(staged);
  for (const name of ['package.json', 'LICENSE'])
    await cp(join(program, name), join(staged, name), { preserveTimestamps: true });
  const parts = await Promise.all(
    // One that is a link would be packed as that.
    PARTS.map(async (name) => ({ directory: await realpath(join(program, name)), at: `${AT}/${name}`, ...owned })),
  );
  return [{ directory: staged, at: AT, uid: ORDINARY_USER, gid: ORDINARY_USER, isPublic: true }, ...parts];
}
