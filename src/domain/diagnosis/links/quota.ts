import { wantedUnits } from '../facts.ts';
import { brokenBy, type DiagnosisLink } from '../link.ts';

export const quotaLink: DiagnosisLink = {
  name: 'quota',
  asks: 'May it have the units it needs?',
  check(facts) {
    const { app, quota, release } = facts;
    const wanted = Object.entries(release?.processes ?? {})
      .filter(([process]) => !app.stoppedProcesses.includes(process))
      .reduce((sum, [, { count }]) => sum + count, 0);
    const isLacking = quota.limit !== null && wanted > quota.limit && wantedUnits(facts).length < wanted;
    if (!isLacking) return brokenBy(facts, ['quota_exceeded']);
    return {
      cause: `${app.name} is to run ${wanted} units and may have ${quota.limit}.`,
      command: `Run fewer (tancho unit remove), or ask an admin: tancho app quota ${app.name} --limit ${wanted}`,
    };
  },
};
