import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { NOT_ROOT, skipFor } from '../../test/support/skips.ts';

const USER = 91_234;

function ran(user: number | null): { status: string; again: string } {
  const program = `
    import { becomeUser } from ${JSON.stringify(new URL('./become-user.ts', import.meta.url).href)};
    import { readFileSync } from 'node:fs';
    becomeUser(${user});
    const lines = readFileSync('/proc/thread-self/status', 'utf8').split('\\n').filter((line) => /^(Uid|Gid|Groups|CapEff|CapPrm):/.test(line));
    let again = 'root again';
    try { process.setuid(0); } catch (error) { again = error.code; }
    console.log(JSON.stringify({ status: lines.join('\\n'), again }));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

it(
  'gives up root, its groups and its capabilities for good',
  skipFor(process.platform === 'linux' ? NOT_ROOT : 'only Linux reports capabilities'),
  () => {
    const { status, again } = ran(USER);
    expect(status).toMatch(new RegExp(`^Uid:\\t${USER}\\t${USER}\\t${USER}\\t${USER}$`, 'm'));
    expect(status).toMatch(new RegExp(`^Gid:\\t${USER}\\t${USER}\\t${USER}\\t${USER}$`, 'm'));
    expect(status).toMatch(/^Groups:\s*$/m);
    expect(status).toMatch(/^CapEff:\t0+$/m);
    expect(status).toMatch(/^CapPrm:\t0+$/m);
    expect(again).toBe('EPERM');
    expect(ran(null).again).toBe('root again');
  },
);
