import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { PacedOutput } from './paced-output.ts';

const MANY = 3_000_000;

function printing(): { child: ReturnType<typeof spawn>; closed: Promise<void> } {
  const child = spawn(process.execPath, ['-e', `process.stdout.write('x'.repeat(${MANY}))`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { child, closed: once(child, 'close').then(() => undefined) };
}

it('reads on only when what it gave was taken, and loses nothing', async () => {
  const { child, closed } = printing();
  let bytes = 0;
  let waiting = 0;
  let most = 0;
  const output = new PacedOutput([child.stdout, child.stderr], async (piece) => {
    waiting += piece.length;
    most = Math.max(most, waiting);
    await delay(1);
    waiting -= piece.length;
    bytes += piece.length;
  });
  await output.drained(closed, () => false);
  await delay(5);
  expect(bytes).toBe(MANY);
  expect(most).toBeLessThan(200_000);
});

it('waits for no reader that nobody waits for any more', async () => {
  const { child, closed } = printing();
  const output = new PacedOutput([child.stdout, child.stderr], () => new Promise(() => {}));
  await output.drained(closed, () => true);
  child.stdout?.destroy();
  child.kill('SIGKILL');
  await closed;
});
