/** A file system of its own, small enough to be filled by a test without anybody else noticing. */
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, open, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface SmallDisk {
  readonly directory: string;
  dispose(): Promise<void>;
}

export interface SmallDiskOptions {
  /**
   * What is measured on it is not to wait for the file system below, which looks for room whenever a part of it is written for the first time: on a
   * disk of a machine nobody waits for that.
   */
  readonly isAllocated?: boolean;
  /** What it is to have, or with a `^` not to have, of what mkfs.ext4 knows. */
  readonly features?: readonly string[];
}

const BLOCK = Buffer.alloc(4 * 1024 ** 2);

/** A sentence where none can be had: that takes root and loop devices. */
export async function smallDisk(
  bytes: number,
  files: number,
  { isAllocated = false, features = [] }: SmallDiskOptions = {},
): Promise<SmallDisk | string> {
  if (process.getuid?.() !== 0) return 'a disk of its own takes root';
  const place = await mkdtemp(path.join(tmpdir(), 'tancho-disk-'));
  const image = path.join(place, 'image');
  const directory = path.join(place, 'mounted');
  const dispose = async (): Promise<void> => {
    // What the last processes of a test hold goes with them.
    execFileSync('umount', ['-l', directory], { stdio: 'pipe' });
    await rm(place, { recursive: true, force: true });
  };
  try {
    await chmod(place, 0o711);
    await mkdir(directory);
    await writeFile(image, '');
    if (isAllocated) await allocate(image, bytes);
    else await truncate(image, bytes);
    // What it discards would be no part of the image any more, and what it leaves for later is written while it is measured.
    const whole = isAllocated ? ['-E', 'nodiscard,lazy_itable_init=0,lazy_journal_init=0'] : [];
    const asked = features.length === 0 ? [] : ['-O', features.join()];
    execFileSync('mkfs.ext4', ['-q', '-m', '0', '-N', `${files}`, ...asked, ...whole, image], { stdio: 'pipe' });
    execFileSync('mount', ['-o', 'loop', image, directory], { stdio: 'pipe' });
  } catch (error) {
    await rm(place, { recursive: true, force: true });
    return `no disk of its own: ${error instanceof Error ? error.message : ''}`;
  }
  await chmod(directory, 0o711);
  return { directory, dispose };
}

async function allocate(file: string, bytes: number): Promise<void> {
  const handle = await open(file, 'w');
  try {
    for (let left = bytes; left > 0; left -= BLOCK.length) await handle.write(BLOCK, 0, Math.min(left, BLOCK.length));
    await handle.sync();
  } finally {
    await handle.close();
  }
}
