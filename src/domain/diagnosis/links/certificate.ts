import type { DiagnosisLink } from '../link.ts';

export const certificateLink: DiagnosisLink = {
  name: 'certificate',
  asks: 'Is there a certificate for its host name?',
  check({ certificateProblem, host }) {
    if (certificateProblem === '') return null;
    return { cause: `There is no certificate for ${host}: ${certificateProblem}`, command: `tancho cert why ${host}` };
  },
};
