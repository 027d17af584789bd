import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkAppName } from './app.ts';
import { appState, type UnitState, UNIT_STATES, UNIT_TRANSITIONS } from '../units/unit.ts';

const none: ReadonlySet<string> = new Set();

describe('checkAppName', () => {
  it('takes exactly the lower-case DNS labels that begin with a letter', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 70 }), (name) => {
        const label = /^[a-z][a-z0-9-]*$/.test(name) && name.length <= 63 && !name.endsWith('-');
        if (label) expect(checkAppName(name, none)).toBe(name);
        else expect(() => checkAppName(name, none)).toThrow('Invalid app name');
      }),
    );
  });

  it.each(['-x', '../x', 'a/b', 'x;id', 'a\0', 'ä', 'A', '', ' a', 'a\n', '9a', 'a'.repeat(64)])(
    'refuses %j',
    (name) => {
      expect(() => checkAppName(name, none)).toThrow('Invalid app name');
    },
  );

  it.each([undefined, null, 7, {}, ['a']])('refuses %j', (name) => {
    expect(() => checkAppName(name, none)).toThrow('Invalid app name');
  });

  it('refuses reserved names', () => {
    expect(() => checkAppName('tancho', new Set(['tancho']))).toThrow('reserved');
  });
});

describe('unit states', () => {
  it('every state can be reached and none leads out of the table', () => {
    const reached = new Set<UnitState>(['pending', ...Object.values(UNIT_TRANSITIONS).flat()]);
    expect([...reached].sort()).toEqual([...UNIT_STATES].sort());
  });
});

describe('appState', () => {
  const units = (...states: UnitState[]): { state: UnitState }[] => states.map((state) => ({ state }));
  it.each([
    ['created', units(), 'running', false],
    ['started', units('error', 'started'), 'running', true],
    ['dead', units('error', 'error'), 'running', true],
    ['dead', units(), 'running', true],
    ['starting', units('error', 'starting'), 'running', true],
    ['stopped', units('stopped'), 'stopped', true],
  ] as const)('%s', (state, list, desired, deployed) => {
    expect(appState(list, desired, deployed)).toBe(state);
  });
});
