import { expect, it } from 'vitest';
import { describeDisk } from './disk.ts';

it('shows the apps that hold most first, then what belongs to none', () => {
  const holder = (kind: string, app: string, name: string, bytes: number) => ({ kind, app, name, bytes });
  const text = describeDisk({
    free_bytes: 3 * 1024 ** 3,
    total_bytes: 4 * 1024 ** 3,
    free_files: 1_000,
    total_files: 20_000,
    reserve_bytes: 512 * 1024 ** 2,
    holders: [
      holder('code', 'blog', '', 2048),
      holder('code', 'shop', '', 1024 ** 2),
      holder('unit', 'shop', '', 512),
      holder('volume', 'blog', '', 4096),
      holder('toolchain', '', 'node', 1024 ** 2),
    ],
  });
  const lines = text.split('\n').map((line) => line.trim().replace(/ {2,}/g, '  '));
  expect(lines).toEqual([
    '3.0 GiB of 4.0 GiB are free, and room for 1000 of 20000 files. The platform and its apps hold 2.0 MiB, what else is there 1022.0 MiB. With less than 512.0 MiB free no new code is taken.',
    '',
    'APP  TOTAL  CODE  BUILD CACHE  REPOSITORY  UNITS  VOLUMES',
    'shop  1.0 MiB  1.0 MiB  0 bytes  0 bytes  512 bytes  0 bytes',
    'blog  6.0 KiB  2.0 KiB  0 bytes  0 bytes  0 bytes  4.0 KiB',
    '',
    'OF NO APP  NAME  SIZE',
    'toolchain  node  1.0 MiB',
  ]);
});
