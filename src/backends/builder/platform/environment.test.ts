import { expect, it } from 'vitest';
import { planVariables } from './environment.ts';

it('a variable for newer versions of a tool is left out for older ones, and where it is not there', () => {
  const since = { program: 'npm', version: '12.0.0' };
  const plan = { environment: [{ name: 'NEW', value: '1', since }] };
  const of = (...versions: string[]): string[] => {
    const programs = versions.map((version) => ({ program: 'npm', version }));
    return Object.keys(planVariables(plan, 'build', {}, programs));
  };
  expect([of('11.16.0'), of(), of('12.0.0'), of('13.1.2')]).toEqual([[], [], ['NEW'], ['NEW']]);
});
