import type { DiagnosisLink } from '../link.ts';

export const routeLink: DiagnosisLink = {
  name: 'route',
  asks: 'Does the router know the app and its units?',
  check({ app, routeFault }) {
    if (routeFault === '') return null;
    return { cause: routeFault, command: `tancho healer run routes (for admins: tancho app routes ${app.name})` };
  },
};
