/** A file system of its own, small enough to be filled by a test without anybody else noticing. */
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface SmallDisk {
  readonly directory: string;
  dispose(): Promise<void>;
}

/** A sentence where none can be had: that takes root and loop devices. */
export async function smallDisk(bytes: number, files: number): Promise<SmallDisk | string> {
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
    await truncate(image, bytes);
    execFileSync('mkfs.ext4', ['-q', '-m', '0', '-N', `${files}`, image], { stdio: 'pipe' });
    execFileSync('mount', ['-o', 'loop', image, directory], { stdio: 'pipe' });
  } catch (error) {
    await rm(place, { recursive: true, force: true });
    return `no disk of its own: ${error instanceof Error ? error.message : ''}`;
  }
  await chmod(directory, 0o711);
  return { directory, dispose };
}
