import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { skipFor } from '../../test/support/skips.ts';

it(
  'a process that has no descriptors left goes on, and what it wanted to start has failed with the reason',
  skipFor(process.platform === 'win32' && 'there is no limit to lower'),
  () => {
    const program = `
    import { openSync, closeSync } from 'node:fs';
    import { runTool } from ${JSON.stringify(new URL('./tools/run-tool.ts', import.meta.url).href)};
    const open = [];
    try { for (;;) open.push(openSync('/dev/null', 'r')); } catch {}
    const failure = await runTool(['true']).catch((error) => error);
    for (const descriptor of open) closeSync(descriptor);
    process.stdout.write(failure.code + ' ' + (await runTool(['echo', 'went on'])));`;
    const limited = ['-c', 'ulimit -n 100 && exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', program];
    const { stdout, stderr } = spawnSync('/bin/sh', limited, { encoding: 'utf8' });
    expect([stderr, stdout]).toEqual(['', 'EMFILE went on\n']);
  },
);
