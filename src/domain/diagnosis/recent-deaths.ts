/** What died and serves again: it breaks nothing now, and may happen again. */
import { describeExit, type Unit, unitName } from '../units/unit.ts';
import { type DiagnosisFacts, memoryLimit, nameOf, timesOf } from './facts.ts';

/** Somebody who looks in the morning is to see what happened at night. */
const SHOWN_MS = 24 * 60 * 60_000;

/** A sentence for each unit that serves and has died within the last day. */
export function recentDeaths(facts: DiagnosisFacts): string[] {
  return facts.units.flatMap((unit) => describe(facts, unit) ?? []);
}

function describe(facts: DiagnosisFacts, unit: Unit): string | null {
  const { state, lastExit, exits, createdAt } = unit;
  if (state !== 'started' || lastExit === null) return null;
  if (facts.now.getTime() - Date.parse(lastExit.at) > SHOWN_MS) return null;
  const { name } = facts.app;
  const isMemory = lastExit.outOfMemory;
  const more = isMemory ? `Give it more: tancho app update ${name} --plan <plan>; or see` : 'See';
  return [
    `${nameOf(unit)} ${describeExit(lastExit)}${isMemory ? memoryLimit(facts) : ''} at ${lastExit.at}, and serves again;`,
    `it has died ${timesOf(exits)} since ${createdAt}.`,
    `${more} what it printed: tancho app log ${name} --unit ${unitName(unit)}`,
  ].join(' ');
}
