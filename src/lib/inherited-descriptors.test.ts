import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { expect, it } from 'vitest';
import { skipFor } from '../../test/support/skips.ts';

it(
  'what a server was started with reaches nothing that it starts, whatever number it has',
  skipFor(process.platform !== 'linux' && 'descriptors are seen below /proc'),
  () => {
    const program = `
    import { spawnSync } from 'node:child_process';
    import { readFileSync } from 'node:fs';
    import { closeInherited } from ${JSON.stringify(new URL('./inherited-descriptors.ts', import.meta.url).href)};
    closeInherited();
    readFileSync('/etc/hostname');
    process.stdout.write(spawnSync('ls', ['/proc/self/fd'], { encoding: 'utf8' }).stdout);`;
    const open = openSync('/etc/passwd', 'r');
    const stdio = Array.from({ length: 64 }, (_, at) => {
      if (at < 3) return 'pipe' as const;
      return [3, 20, 63].includes(at) ? open : ('ignore' as const);
    });
    try {
      const args = ['--input-type=module', '-e', program];
      const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', stdio });
      expect(stderr).toBe('');
      // The last is the directory that ls reads.
      expect(
        stdout
          .trim()
          .split('\n')
          .map(Number)
          .sort((a, b) => a - b),
      ).toEqual([0, 1, 2, 3]);
    } finally {
      closeSync(open);
    }
  },
);
