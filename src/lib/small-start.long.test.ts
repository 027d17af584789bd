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

/** Much is under way at once, over and over: what is young takes so many bytes at most. */
const BUSY = `
import { getHeapSpaceStatistics } from 'node:v8';
import { staySmall, speedUp } from ${JSON.stringify(MODULE)};
staySmall(Number(process.argv[1]));
speedUp();
let most = 0;
let kept = [];
for (let round = 0; round < 1_500; round += 1) {
  if (round % 50 === 0) kept = [];
  for (let n = 0; n < 2_000; n += 1) kept.push({ n, text: 'x' + n });
  await new Promise((resolve) => setImmediate(resolve));
  most = Math.max(most, getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size);
}
console.log(most);
`;

async function mostYoung(bytes: string): Promise<number> {
  const args = ['--experimental-strip-types', '--no-warnings', '--input-type=module', '-e', BUSY, bytes];
  return Number((await promisify(execFile)(process.execPath, args)).stdout);
}

it('what is young is bounded where it is to be, and grows beyond that where it is not', async () => {
  const most = 8 * 1024 ** 2;
  expect(await mostYoung(`${most}`)).toBeLessThanOrEqual(2 * most);
  expect(await mostYoung('Infinity')).toBeGreaterThan(2 * most);
});

it('nothing is compiled for speed before speedUp(), and it is after it', async () => {
  const args = ['--trace-opt', '--experimental-strip-types', '--no-warnings', '--input-type=module', '-e', PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 64 * 1024 ** 2 });
  const [before = '', after = ''] = stdout.split('CLIENT');
  const compiled = /\[(?:compiling|completed compiling).*<JSFunction hot/;
  expect(after).toMatch(compiled);
  expect(before).not.toMatch(compiled);
});
