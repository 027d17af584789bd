import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { behindRustup, rustupPlaces } from './rustup.ts';

let home: string;
let links: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'rustup-'));
  links = join(home, '.cargo', 'bin');
  await mkdir(links, { recursive: true });
  await symlink('rustup', join(links, 'cargo'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function writeRustup(script: string): Promise<void> {
  await writeFile(join(links, 'rustup'), `#!/bin/sh\n${script}\n`);
  await chmod(join(links, 'rustup'), 0o755);
}

it('is asked for the program that its link stands for, and fetches nothing for it', async () => {
  await writeRustup('[ "$RUSTUP_AUTO_INSTALL$1" = 0which ] && echo "$RUSTUP_HOME/toolchains/stable/bin/$2"');
  const cargo = await behindRustup(join(links, 'cargo'), { RUSTUP_HOME: home });
  expect(cargo).toBe(join(home, 'toolchains/stable/bin/cargo'));
});

it('has none without a toolchain', async () => {
  await writeRustup('echo "error: no default toolchain" >&2; exit 1');
  expect(await behindRustup(join(links, 'cargo'), {})).toBeNull();
});

it('is not asked for other programs', async () => {
  await writeRustup('echo /never');
  await writeFile(join(links, 'other'), '');
  expect(await behindRustup(join(links, 'other'), {})).toBe(join(links, 'other'));
});

it('has its links in the home of Cargo', () => {
  expect(rustupPlaces({ HOME: '/home/ann' })).toEqual(['/home/ann/.cargo/bin']);
  expect(rustupPlaces({ HOME: '/home/ann', CARGO_HOME: '/opt/cargo' })).toEqual(['/opt/cargo/bin']);
  expect(rustupPlaces({})).toEqual([]);
});
