import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NOT_ROOT, skipFor } from '../../test/support/skips.ts';
import { smallDisk } from '../../test/support/small-disk.ts';
import { admit, handOver } from './ownership.ts';

const UID = 71_234;
const OTHER = 71_235;

describe.each([
  ['few', 0],
  ['many', 600],
])('handOver of %s files', skipFor(NOT_ROOT), (_, more) => {
  let home = '';
  let code = '';
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'tancho-ownership-'));
    code = join(home, 'code');
    mkdirSync(join(code, 'inner'), { recursive: true });
    writeFileSync(join(code, 'inner', 'file'), '', { mode: 0o644 });
    for (let number = 0; number < more; number += 1) writeFileSync(join(code, 'inner', `${number}`), '');
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const ownerAndMode = (path: string): [number, number] => {
    const { uid, mode } = lstatSync(path);
    return [uid, mode & 0o777];
  };

  it('gives everything to the uid and closes it to others', async () => {
    await handOver(code, UID);
    expect(ownerAndMode(code)).toEqual([UID, 0o700]);
    expect(ownerAndMode(join(code, 'inner'))).toEqual([UID, 0o700]);
    expect(ownerAndMode(join(code, 'inner', 'file'))).toEqual([UID, 0o600]);
  });

  it('follows no link', async () => {
    const outside = join(home, 'outside');
    writeFileSync(outside, '', { mode: 0o644 });
    symlinkSync(outside, join(code, 'direct'));
    symlinkSync(outside, join(code, 'inner', 'deeper'));
    await handOver(code, UID);
    expect(ownerAndMode(outside)).toEqual([0, 0o644]);
    expect(lstatSync(join(code, 'direct')).uid).toBe(UID);
  });

  it('takes links alone as well', async () => {
    rmSync(join(code, 'inner'), { recursive: true });
    symlinkSync('nowhere', join(code, 'link'));
    await handOver(code, UID);
    expect(lstatSync(join(code, 'link')).uid).toBe(UID);
  });

  it('does not give away what was linked into a tree since, even when its owner opens the tree', async () => {
    const shared = join(home, 'shared');
    writeFileSync(shared, '', { mode: 0o644 });
    await handOver(code, UID);
    linkSync(shared, join(code, 'inner', 'linked'));
    chmodSync(code, 0o755);
    await handOver(code, UID);
    expect(ownerAndMode(code)).toEqual([UID, 0o700]);
    expect(ownerAndMode(shared)).toEqual([0, 0o644]);
  });

  it('gives names that are no UTF-8 as well', async () => {
    const odd = (directory: string): Buffer => Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0xe9, 0xff])]);
    mkdirSync(odd(code));
    const inner = Buffer.concat([odd(code), Buffer.from([0x2f, 0xfe])]);
    writeFileSync(inner, '', { mode: 0o755 });
    writeFileSync(odd(join(code, 'inner')), '', { mode: 0o644 });
    symlinkSync('/etc/passwd', Buffer.concat([odd(code), Buffer.from('/link')]));
    await handOver(code, UID);
    for (const [path, mode] of [
      [odd(code), 0o700],
      [inner, 0o700],
      [odd(join(code, 'inner')), 0o600],
    ] as const) {
      expect([lstatSync(path).uid, lstatSync(path).mode & 0o777]).toEqual([UID, mode]);
    }
    expect(lstatSync(Buffer.concat([odd(code), Buffer.from('/link')])).uid).toBe(UID);
    expect(lstatSync('/etc/passwd').uid).toBe(0);
  });

  it('takes a tree over from another uid', async () => {
    await handOver(code, OTHER);
    chownSync(join(code, 'inner', 'file'), 0, 0);
    await handOver(code, UID);
    expect(lstatSync(join(code, 'inner', 'file')).uid).toBe(UID);
  });

  it('lets one uid into a directory, and only to read', async () => {
    await admit(code, UID);
    expect(lstatSync(code)).toMatchObject({ uid: 0, gid: UID, mode: 0o40750 });
  });
});

for (const [name, count] of [
  ['few', 3],
  ['many', 600],
] as const) {
  it(`hands over ${name} files of a file system that does not say of what kind entries are`, async ({ skip }) => {
    const disk = await smallDisk(16 * 1024 ** 2, 1_000, { features: ['^filetype'] });
    if (typeof disk === 'string') return skip(disk);
    try {
      const code = join(disk.directory, 'code');
      mkdirSync(join(code, 'inner'), { recursive: true });
      for (let number = 0; number < count; number += 1) writeFileSync(join(code, 'inner', `${number}`), '');
      const odd = Buffer.concat([Buffer.from(`${code}/`), Buffer.from([0xe9, 0xff])]);
      mkdirSync(odd);
      await handOver(code, UID);
      for (const path of [odd, join(code, 'inner'), join(code, 'inner', '0')]) expect(lstatSync(path).uid).toBe(UID);
    } finally {
      await disk.dispose();
    }
  });
}
