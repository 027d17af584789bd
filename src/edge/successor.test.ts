import { expect, it } from 'vitest';
import { readProcess } from '../lib/processes.ts';
import { startSuccessor } from './successor.ts';

/** Asks to take over, and ends. */
const HASTY = 'process.send({ id: 1, request: { op: "retire" } }, () => process.exit())';
/** Asks to take over, and waits for the answer; the message before that, with id 0, only says that the other side listens. */
const PATIENT = `${HASTY.replace(', () => process.exit()', '')}; process.on('message', ({ id }) => id === 1 && process.exit())`;

async function started(
  code: string,
  asked: string[],
): Promise<{ readonly pid: number; readonly ended: Promise<void> }> {
  const listeners = { plain: { host: '127.0.0.1', port: 0 }, tls: null };
  return startSuccessor({ execPath: process.execPath, args: ['-e', code] }, listeners, async ({ op }) => {
    asked.push(op);
  });
}

it('an edge does not give way to one that has ended before it came to hear of it', async () => {
  const asked: string[] = [];
  const { pid, ended } = await started(HASTY, asked);
  // This process hears nothing meanwhile.
  while (readProcess(pid)?.zombie === false);
  await ended;
  expect(asked).toEqual([]);
});

it('an edge gives way to one that waits for it', async () => {
  const asked: string[] = [];
  await (
    await started(PATIENT, asked)
  ).ended;
  expect(asked).toEqual(['retire']);
});
