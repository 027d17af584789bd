/**
 * Built code stays as it was built. What a process writes beside its code lands in a layer over it, which is the process's own and
 * goes with it. The kernel puts both together (overlayfs) at a path that the sandbox shows in the place of the code.
 */
import { mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { UnitSpec } from '../../../domain/units/provisioner.ts';
import { randomHex } from '../../../lib/ids.ts';
import { removeTree } from '../../../lib/remove-tree.ts';
import { runTool } from '../../../lib/tools/run-tool.ts';
import { type HeldLimit, NO_QUOTAS, type ProjectQuotas } from '../../../lib/project-quotas.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';

const DEADLINE_MS = 60_000;
const PROBE = '.layer-probe';
/** What the options of a mount cannot hold as it is. */
const ODD_PATH = /[,:\\"\n]/;

/**
 * `layer`: each process has a layer of its own. `read-only`: code cannot be written, for layers cannot be mounted here. `none`: what one
 * process writes beside its code all others of the release see, because the isolation level shows every process the same files.
 */
type CodeProtection = 'layer' | 'read-only' | 'none';

/** Where the code of one process is. */
export interface CodePlace {
  readonly path: string;
  readonly writable: boolean;
}

interface NewLayer {
  readonly tenant: string;
  /** The code is a root file system, which is not read-only in any case. */
  readonly isRoot: boolean;
  /** What the layer and the directories beside it may hold; absent: no limit. */
  readonly held?: HeldLimit;
  readonly beside?: readonly string[];
}

export class CodeLayers {
  readonly protection: CodeProtection;
  readonly #sandbox: Sandbox;
  readonly #quotas: ProjectQuotas;

  private constructor(protection: CodeProtection, sandbox: Sandbox, quotas: ProjectQuotas) {
    this.protection = protection;
    this.#sandbox = sandbox;
    this.#quotas = quotas;
  }

  /** `directory`: where those who will have layers have their directories. Nothing that an earlier process mounted below it is left. */
  static async open(sandbox: Sandbox, directory: string, quotas: ProjectQuotas = NO_QUOTAS): Promise<CodeLayers> {
    for (const mounted of await mountsBelow(directory)) await unmount(mounted);
    if (sandbox.level !== 'bubblewrap') return new CodeLayers('none', sandbox, quotas);
    const layers = new CodeLayers('layer', sandbox, quotas);
    return (await layers.#works(join(directory, `${PROBE}-${randomHex(6)}`)))
      ? layers
      : new CodeLayers('read-only', sandbox, quotas);
  }

  /**
   * Puts a new, empty layer over the code. `directory` is the process's own. Call settled() when the process has it.
   */
  async lay(code: string, directory: string, { tenant, isRoot, held, beside = [] }: NewLayer): Promise<CodePlace> {
    const layer = layerOf(directory);
    if (this.protection === 'layer') {
      await this.clear(directory);
      await mkdir(layer, { recursive: true, mode: 0o700 });
    }
    if (held !== undefined) {
      const directories = this.protection === 'layer' ? [layer, ...beside] : beside;
      // What the kernel does not keep is watched all the same.
      await this.#quotas.hold(directory, directories, held).catch(() => undefined);
    }
    if (this.protection !== 'layer') return { path: code, writable: isRoot || this.protection === 'none' };
    const { upper, work, merged } = places(directory);
    for (const path of [upper, work, merged]) await mkdir(path, { recursive: true, mode: 0o700 });
    await this.#sandbox.own(upper, tenant);
    const options = `lowerdir=${code},upperdir=${upper},workdir=${work}`;
    await runTool(['mount', '-n', '-t', 'overlay', '-o', options, 'overlay', merged], '', DEADLINE_MS);
    return { path: merged, writable: true };
  }

  /** The process has its own view of the layer by now: the one of this machine is not needed any more. */
  async settled(directory: string): Promise<void> {
    const { merged } = places(directory);
    if (this.protection === 'layer' && (await isMounted(merged))) await unmount(merged);
  }

  /** Removes the layer with all that was written to it; the process must have ended. */
  async clear(directory: string): Promise<void> {
    await this.settled(directory);
    await removeTree(layerOf(directory));
  }

  async #works(directory: string): Promise<boolean> {
    const code = join(directory, 'code');
    if (process.getuid?.() !== 0 || ODD_PATH.test(directory)) return false;
    try {
      await mkdir(code, { recursive: true, mode: 0o700 });
      await writeFile(join(code, 'file'), 'as built');
      const { path } = await this.lay(code, directory, { tenant: PROBE, isRoot: false });
      await writeFile(join(path, 'file'), 'written');
      return (await readFile(join(code, 'file'), 'utf8')) === 'as built';
    } catch {
      return false;
    } finally {
      await this.clear(directory);
      await removeTree(directory);
      await this.#sandbox.forget(PROBE);
    }
  }
}

export function heldOf({ limits: { diskBytes: bytes = 0, files = 0 } }: Pick<UnitSpec, 'limits'>): HeldLimit {
  return { bytes, files };
}

/** What the process whose directory this is has written beside its code. */
export function writtenBeside(directory: string): string {
  return places(directory).upper;
}

function layerOf(directory: string): string {
  return join(directory, 'layer');
}

function places(directory: string): { upper: string; work: string; merged: string } {
  const layer = layerOf(directory);
  return { upper: join(layer, 'upper'), work: join(layer, 'work'), merged: join(layer, 'code') };
}

async function unmount(path: string): Promise<void> {
  try {
    // At once for everybody who looks for it by name; nobody of this machine works in it.
    await runTool(['umount', '-n', '-l', path], '', DEADLINE_MS);
  } catch (error) {
    // Somebody else may have been faster.
    if ((await mountsBelow(dirname(path))).includes(path)) throw error;
  }
}

/** To read all mounts of the machine takes long where there are many. */
async function isMounted(path: string): Promise<boolean> {
  const device = async (of: string): Promise<number | null> => (await stat(of).catch(() => null))?.dev ?? null;
  const [own, around] = [await device(path), await device(dirname(path))];
  return own !== null && own !== around;
}

/** Where something is mounted below the directory; newest first. Paths begin with the directory as it is given. */
export async function mountsBelow(directory: string): Promise<string[]> {
  const text = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  // The kernel reports paths without links; a home may be reached by one.
  const real = await realpath(directory).catch(() => directory);
  const points = text.split('\n').map((line) => unescaped(line.split(' ')[4] ?? ''));
  const below = points.filter((point) => point.startsWith(`${real}/`));
  return below.map((point) => `${directory}${point.slice(real.length)}`).reverse();
}

function unescaped(point: string): string {
  return point.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
