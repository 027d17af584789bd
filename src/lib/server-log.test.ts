import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { skipFor } from '../../test/support/skips.ts';
import { openServerLog } from './server-log.ts';

/** Whatever is written there, the disk is full. */
const FULL = '/dev/full';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tancho-log-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it('writes JSON lines', async () => {
  const log = await openServerLog(directory);
  log.logger.info({ app: 'shop' }, 'made');
  await log.close();
  const [line = ''] = readFileSync(join(directory, 'control.log'), 'utf8').split('\n');
  expect(JSON.parse(line)).toMatchObject({ app: 'shop', msg: 'made' });
});

it(
  'ends nothing when the disk is full, and keeps a bounded number of lines in memory',
  skipFor(!existsSync(FULL) && 'there is no /dev/full'),
  async () => {
    symlinkSync(FULL, join(directory, 'control.log'));
    const log = await openServerLog(directory);
    const before = heldBytes();
    for (let n = 0; n < 20_000; n++) log.logger.info({ n, text: 'x'.repeat(1_000) }, 'made');
    expect(heldBytes() - before).toBeLessThan(5_000_000);
    await log.close();
  },
);

/** After a collection, so that what only waits for one does not count. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}
