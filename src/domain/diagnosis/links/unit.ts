import { answeringUnits, engineSays, nameOf, wantedUnits } from '../facts.ts';
import type { DiagnosisLink } from '../link.ts';

export const unitLink: DiagnosisLink = {
  name: 'unit',
  asks: 'Are its units there, and started?',
  check(facts) {
    const { app, process, release, rollout, failures } = facts;
    if (release === null) return null;
    if (answeringUnits(facts).length === 0) {
      const cause = `No unit of ${app.name} answers requests, although ${release.processes[process]?.count ?? 1} should.`;
      return rollout === null
        ? { cause, command: `tancho app restart ${app.name}` }
        : { cause: `${cause} A change is under way since ${rollout.startedAt}.`, command: 'Wait until it is done.' };
    }
    // Why one is not ready is known better by the links that follow.
    const down = wantedUnits(facts).find(({ state }) => state !== 'started');
    if (down === undefined || failures.length > 0) return null;
    const isComing = down.state === 'pending' || down.state === 'starting';
    return {
      cause: `${nameOf(down)} is ${isComing ? 'being started' : `in state ${down.state}`}, so it does not answer yet.${engineSays(facts, down)}`,
      command: isComing ? `Wait, or look on: tancho app log ${app.name} --follow` : 'tancho healer run units',
    };
  },
};
