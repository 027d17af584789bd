import type { DiagnosisFacts } from '../facts.ts';
import { engineSays, nameOf, wantedUnits } from '../facts.ts';
import { type BrokenLink, brokenBy, type DiagnosisLink } from '../link.ts';
import { describeExit, type Unit, unitName } from '../../units/unit.ts';

/** A unit that died so often, and the last time not long ago, is in a restart loop although it may be running just now. */
const LOOP_EXITS = 3;
const LOOP_WINDOW_MS = 2 * 60_000;

export const exitLink: DiagnosisLink = {
  name: 'exit',
  asks: 'Do its processes stay alive?',
  check(facts) {
    // One that never became ready was ended by the platform: why is the concern of the links that follow.
    const ended = new Set(facts.failures.filter(({ cause }) => cause !== 'exited').map((failure) => failure.unit));
    const units = wantedUnits(facts).filter(({ id }) => !ended.has(id));
    const dead = units.find(({ state, lastExit }) => state !== 'started' && lastExit !== null);
    const looping = units.find((unit) => isLooping(unit, facts.now));
    const unit = looping ?? dead;
    return unit === undefined ? brokenBy(facts, ['exited']) : describe(facts, unit, unit === looping);
  },
};

function isLooping({ exits, lastExit }: Unit, now: Date): boolean {
  return exits >= LOOP_EXITS && lastExit !== null && now.getTime() - Date.parse(lastExit.at) < LOOP_WINDOW_MS;
}

function describe(facts: DiagnosisFacts, unit: Unit, isLoop: boolean): BrokenLink {
  const { app } = facts;
  const { lastExit } = unit;
  const how = lastExit === null ? 'ended' : `${describeExit(lastExit)} at ${lastExit.at}`;
  const often = isLoop ? ` It is in a restart loop: it died ${unit.exits} times.` : '';
  return {
    cause: `${nameOf(unit)} ${how}.${often}${engineSays(facts, unit)}`,
    command: `tancho app log ${app.name} --unit ${unitName(unit)}`,
    lines: lastExit?.lastLines ?? [],
  };
}
