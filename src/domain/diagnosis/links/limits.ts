import { memoryLimit, nameOf, timesOf, wantedUnits } from '../facts.ts';
import { brokenBy, type DiagnosisLink } from '../link.ts';
import { unitName } from '../../units/unit.ts';

export const limitsLink: DiagnosisLink = {
  name: 'limits',
  asks: 'Do its units stay within the memory they may use?',
  check(facts) {
    const dead = wantedUnits(facts).find(
      ({ state, lastExit }) => state !== 'started' && lastExit?.outOfMemory === true,
    );
    if (dead === undefined) return brokenBy(facts, ['out_of_memory']);
    return {
      cause: `${nameOf(dead)} was killed ${timesOf(dead.exits)}: it used more memory than it may${memoryLimit(facts)}.`,
      command: `Give it more, tancho app update ${facts.app.name} --plan <plan>, or see what it did: tancho app log ${facts.app.name} --unit ${unitName(dead)}`,
      lines: dead.lastExit?.lastLines ?? [],
    };
  },
};
