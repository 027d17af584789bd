import type { DiagnosisLink } from '../link.ts';

export const rulesLink: DiagnosisLink = {
  name: 'rules',
  asks: 'Are requests let through to it?',
  check({ app }) {
    const { maintenance, hold } = app.edge;
    if (maintenance) {
      const cause = 'Maintenance is on: every request is answered 503.';
      return { cause, command: `tancho edge set maintenance=off -a ${app.name}` };
    }
    if (hold !== 'always') return null;
    const cause = 'Requests are held back: each waits, and is answered 503 then.';
    return { cause, command: `tancho edge set hold=off -a ${app.name}` };
  },
};
