import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { NOT_ROOT, skipFor } from '../../test/support/skips.ts';
import { needlessOf } from './fewer-rights.ts';

const ALL = '000001ffffffffff';
const status = (effective: string, bounds: string): string => `CapEff:\t${effective}\nCapBnd:\t${bounds}\n`;

it('names what root has beyond its needs, and nothing where it is gone or cannot be given up', () => {
  expect(needlessOf(status(ALL, ALL))).toEqual(
    expect.arrayContaining(['sys_module', 'sys_rawio', 'sys_time', 'mac_admin']),
  );
  for (const needed of ['sys_admin', 'net_admin', 'setuid', 'chown', 'sys_ptrace'])
    expect(needlessOf(status(ALL, ALL))).not.toContain(needed);
  expect(needlessOf(status(ALL, '000001c0a8ac7dff'))).toEqual([]);
  expect(needlessOf(status('0000000000000000', ALL))).toEqual([]);
});

function whyNot(): string {
  if (process.platform !== 'linux' || NOT_ROOT !== '') return 'only root of a Linux has rights to give up';
  return needlessOf(readFileSync('/proc/self/status', 'latin1')).length > 0 ? '' : 'this process has none left';
}

it(
  'begins anew without them, as the same process with the same arguments, and what it starts has none either',
  skipFor(whyNot()),
  () => {
    const program = `
      import { giveUpNeedless, needlessOf } from ${JSON.stringify(new URL('./fewer-rights.ts', import.meta.url).href)};
      import { spawnSync } from 'node:child_process';
      import { readFileSync } from 'node:fs';
      process.stdout.write(process.pid + ' ');
      await giveUpNeedless(async () => ['/usr/bin/env', 'SAID=1']);
      const child = spawnSync('cat', ['/proc/self/status'], { encoding: 'utf8' }).stdout;
      const own = readFileSync('/proc/self/status', 'utf8');
      process.stdout.write(JSON.stringify({ left: [...needlessOf(own), ...needlessOf(child)], uid: process.getuid(), said: process.argv.slice(1), under: process.env.SAID }));`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program, 'a', 'b c'], {
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    const [first, second, answer = ''] = /^(\d+) (\d+) (.*)$/.exec(stdout)?.slice(1) ?? [];
    expect(second).toBe(first);
    expect(JSON.parse(answer)).toEqual({ left: [], uid: 0, said: ['a', 'b c'], under: '1' });
  },
);
