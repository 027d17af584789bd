import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openProjectQuotas } from './project-quotas.ts';

const MIB = 1024 ** 2;
const NOBODY = 65_534;

const place = mkdtempSync(join(tmpdir(), 'tancho-quotas-'));
chmodSync(place, 0o711);
const root = join(place, 'mounted');
const why = mounted();
afterAll(() => {
  if (why === null) execFileSync('umount', [root]);
  rmSync(place, { recursive: true, force: true });
});

/** Why no file system with quotas can be had here; null: there is one at `root`. */
function mounted(): string | null {
  if (process.getuid?.() !== 0) return 'that takes root';
  const image = join(place, 'image');
  mkdirSync(root);
  try {
    writeFileSync(image, '');
    truncateSync(image, 128 * MIB);
    const features = ['-q', '-O', 'quota,project', '-E', 'quotatype=prjquota'];
    execFileSync('mkfs.ext4', [...features, image], { stdio: 'pipe' });
    execFileSync('mount', ['-o', 'loop,prjquota', image, root], { stdio: 'pipe' });
    return null;
  } catch (error) {
    return `a file system with them cannot be mounted (${error instanceof Error ? error.message.trim() : ''})`;
  }
}

function directory(name: string): string {
  const path = join(root, name);
  mkdirSync(path, { recursive: true });
  chownSync(path, NOBODY, NOBODY);
  return path;
}

/** As somebody without rights: '' or what went wrong. */
function write(path: string, bytes: number): string {
  const code =
    'try { fs.writeFileSync(process.argv[1], Buffer.alloc(+process.argv[2])) } catch (e) { console.log(e.errno === -122 ? "EDQUOT" : e.code) }';
  const ids = { uid: NOBODY, gid: NOBODY };
  return execFileSync(process.execPath, ['-e', code, path, `${bytes}`], { ...ids, encoding: 'utf8' }).trim();
}

it('hold several directories together, to bytes and to files, and nobody else', async (context) => {
  if (why !== null) return context.skip(why);
  const quotas = await openProjectQuotas(root);
  expect(quotas.missing).toBeNull();
  const [unit, home, layer, other] = ['u1', 'u1/home', 'u1/layer', 'u2'].map(directory) as [
    string,
    string,
    string,
    string,
  ];
  await quotas.hold(unit, [home, layer], { bytes: 4 * MIB, files: 20 });
  expect(write(join(home, 'a'), 2 * MIB)).toBe('');
  expect(write(join(layer, 'b'), 3 * MIB)).toBe('EDQUOT');
  expect(write(join(other, 'c'), 20 * MIB)).toBe('');
  rmSync(join(layer, 'b'));
  expect(Array.from({ length: 20 }, (_, index) => write(join(home, `f${index}`), 0))).toContain('EDQUOT');
  // What is there stays in it.
  await quotas.hold(unit, [home, layer], { bytes: 8 * MIB, files: 0 });
  expect(write(join(home, 'a'), 5 * MIB)).toBe('');
  expect(write(join(home, 'a'), 10 * MIB)).toBe('EDQUOT');
});

it('hold what is written to a layer over other files', async (context) => {
  if (why !== null) return context.skip(why);
  const quotas = await openProjectQuotas(root);
  const [unit, layer, code] = ['u3', 'u3/layer', 'code3'].map(directory) as [string, string, string];
  writeFileSync(join(code, 'built'), 'as built');
  await quotas.hold(unit, [layer], { bytes: 4 * MIB, files: 0 });
  const [upper, work, merged] = ['upper', 'work', 'merged'].map((name) => directory(`u3/layer/${name}`));
  const places = `lowerdir=${code},upperdir=${upper},workdir=${work}`;
  execFileSync('mount', ['-n', '-t', 'overlay', '-o', places, 'overlay', merged ?? '']);
  try {
    expect(write(join(merged ?? '', 'a'), 3 * MIB)).toBe('');
    expect(write(join(merged ?? '', 'b'), 3 * MIB)).toBe('EDQUOT');
  } finally {
    execFileSync('umount', [merged ?? '']);
  }
});

it('leave directories alone that have files from before', async (context) => {
  if (why !== null) return context.skip(why);
  const quotas = await openProjectQuotas(root);
  const old = directory('old');
  writeFileSync(join(old, 'file'), 'x');
  await quotas.hold(old, [old], { bytes: MIB, files: 1 });
  expect(write(join(old, 'more'), 4 * MIB)).toBe('');
});

it('are missing, with the reason, where the file system has none', async () => {
  expect((await openProjectQuotas('/proc')).missing).toMatch(/prjquota|root/);
});
