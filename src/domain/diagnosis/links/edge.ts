import type { DiagnosisLink } from '../link.ts';

export const edgeLink: DiagnosisLink = {
  name: 'edge',
  asks: 'Is the router that takes requests there?',
  check({ answer, routerAnswers }) {
    const command = 'On the machine of the platform: tancho server status';
    if (answer.kind === 'unreachable') {
      return { cause: `The router of the platform takes no connection: it ${answer.why}.`, command };
    }
    if (routerAnswers) return null;
    return { cause: 'The router serves, but does not say by which routes.', command };
  },
};
