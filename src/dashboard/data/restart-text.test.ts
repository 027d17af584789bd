import { expect, it } from 'vitest';
import { restartText } from './restart-text.ts';

const unit = (ProcessName: string, State = 'started') => ({ ProcessName, State }) as never;
const app = { Units: [unit('web'), unit('web'), unit('worker')] };
const volume = (path: string, single: boolean) => ({ name: 'data', path, single });

it('names the processes that restart, and says nothing restarts where that is so', () => {
  expect(restartText(app, [])).toBe(
    'Restarts once: web (2 units), worker (1 unit). New units take over before the old ones go; no request fails.',
  );
  expect(restartText(app, [], true)).toMatch(/^Nothing is restarted now/);
  expect(restartText({ Units: [unit('web', 'stopped')] }, [])).toMatch(/^Nothing of the app runs/);
});

it('promises no answer meanwhile where a volume is for one unit at a time and mounted', () => {
  expect(restartText(app, [volume('/data', true)])).toMatch(
    /^Restarts once: .* data is for one unit .* does not answer/,
  );
  for (const other of [volume('', true), volume('/data', false)]) {
    expect(restartText(app, [other])).toMatch(/no request fails\.$/);
  }
});
