import type { HealthCheck } from '../../apps/app.ts';
import { answeringUnits, nameOf } from '../facts.ts';
import { brokenBy, type DiagnosisLink } from '../link.ts';
import type { ProbeAnswer } from '../probe.ts';
import { healthCheckOf } from '../../units/routed.ts';
import { unitName } from '../../units/unit.ts';

export const healthLink: DiagnosisLink = {
  name: 'health',
  asks: 'Do its units pass its health check?',
  check(facts) {
    const { app, process, release, health } = facts;
    const check = release === null ? null : healthCheckOf(release, process);
    for (const unit of check === null ? [] : answeringUnits(facts)) {
      const why = problemOf(check ?? {}, health.get(unit.id));
      if (why === '') continue;
      return {
        cause: `${nameOf(unit)} fails its health check: to ${check?.method ?? 'GET'} ${check?.path ?? '/'} it ${why}.`,
        command: `tancho app log ${app.name} --unit ${unitName(unit)}`,
      };
    }
    return brokenBy(facts, ['health_check_failed']);
  },
};

/** With a pattern and no status the pattern alone decides, and whoever starts the unit has judged it. */
function problemOf({ status, match, maxStatus }: HealthCheck, answer: ProbeAnswer | undefined): string {
  if (answer === undefined) return '';
  if (answer.kind !== 'answered') return answer.why;
  if (maxStatus !== undefined) return answer.status <= maxStatus ? '' : `answered ${answer.status}`;
  const wanted = status ?? (match === undefined ? 200 : answer.status);
  return answer.status === wanted ? '' : `answered ${answer.status} instead of ${wanted}`;
}
