import { ROUTED_PROCESS } from '../../units/unit.ts';
import type { DiagnosisLink } from '../link.ts';

export const stateLink: DiagnosisLink = {
  name: 'state',
  asks: 'Is it meant to run, with a process that answers?',
  check({ app, process, release, rollout, units }) {
    const start = `tancho app start ${app.name}`;
    if (app.release === null) return null;
    if (app.desired === 'stopped') return { cause: `${app.name} was stopped.`, command: start };
    if (app.stoppedProcesses.includes(process)) {
      const cause = `The process "${process}" of ${app.name}, which answers requests, was stopped.`;
      return { cause, command: `${start} --process ${process}` };
    }
    const answering = release?.processes[process];
    if (answering === undefined) {
      return {
        cause: `${app.name} has no process "${ROUTED_PROCESS}", which is the one that answers requests.`,
        command: `Add a line "${ROUTED_PROCESS}: <command>" to its Procfile, then: git push tancho HEAD:main`,
      };
    }
    const isMoving = rollout !== null && units.length > 0;
    if (answering.count > 0 || isMoving) return null;
    return {
      cause: `${app.name} runs with no unit of the process "${process}".`,
      command: `tancho unit add 1 --process ${process} -a ${app.name}`,
    };
  },
};
