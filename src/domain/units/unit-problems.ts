import { describeExit, type Unit, unitName, wasWell } from './unit.ts';

/** What is wrong with units that should serve, one sentence each for people; empty when all are well. */
export function unitProblems(units: readonly Unit[], now: Date): string[] {
  return units.flatMap((unit) => {
    const { lastExit, exits, state } = unit;
    const isNewborn = (state === 'pending' || state === 'starting') && exits === 0;
    if (wasWell(unit, now) || isNewborn || state === 'stopped') return [];
    const how = lastExit === null ? 'did not start' : describeExit(lastExit);
    const often = exits > 1 ? ` (it has failed ${exits} times)` : '';
    const next = state === 'started' ? 'it runs again' : 'it is started again, after growing delays';
    const last = lastExit?.lastLines.findLast((line) => line.trim() !== '');
    return `${unit.process} ${unitName(unit)} ${how}${often}; ${next}.${last === undefined ? '' : ` Its last line: ${last}`}`;
  });
}
