import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const MODULE = fileURLToPath(new URL('./small-start.ts', import.meta.url));

/** What V8 says of a function that runs hot, before and after there is a client. */
const PROGRAM = `
import { staySmall, speedUp } from ${JSON.stringify(MODULE)};
staySmall();
const hot = (n) => { let sum = 0; for (let i = 0; i < n; i += 1) sum = (sum + i * i) % 1_000_003; return sum; };
const run = () => { for (let round = 0; round < 300; round += 1) hot(20_000); };
run();
console.log('CLIENT');
speedUp();
run();
`;

it('nothing is compiled for speed before speedUp(), and it is after it', async () => {
  const args = ['--trace-opt', '--experimental-strip-types', '--no-warnings', '--input-type=module', '-e', PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 64 * 1024 ** 2 });
  const [before = '', after = ''] = stdout.split('CLIENT');
  const compiled = /\[(?:compiling|completed compiling).*<JSFunction hot/;
  expect(after).toMatch(compiled);
  expect(before).not.toMatch(compiled);
});
