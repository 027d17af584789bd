import { answeringUnits, nameOf } from '../facts.ts';
import { brokenBy, type DiagnosisLink } from '../link.ts';
import { unitName } from '../../units/unit.ts';

export const portLink: DiagnosisLink = {
  name: 'port',
  asks: 'Do its units listen on PORT?',
  check(facts) {
    const { app, deafUnits } = facts;
    const deaf = answeringUnits(facts).find(({ id }) => deafUnits.has(id));
    if (deaf === undefined) return brokenBy(facts, ['no_listener', 'wrong_port', 'wrong_interface', 'no_port']);
    return {
      cause: `${nameOf(deaf)} runs, but takes no connection on port ${deaf.address?.port}: it ${deafUnits.get(deaf.id)}.`,
      command: `tancho app restart ${app.name}; what it said: tancho app log ${app.name} --unit ${unitName(deaf)}`,
    };
  },
};
