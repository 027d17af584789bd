import type { DiagnosisLink } from '../link.ts';

export const nameLink: DiagnosisLink = {
  name: 'name',
  asks: 'Does its host name lead anywhere?',
  check({ unresolved, app }) {
    const [host] = unresolved;
    if (host === undefined) return null;
    const isExtra = app.cname.includes(host);
    return {
      cause: `The name ${host} is not known to the name servers that this machine asks.`,
      command: isExtra
        ? `Add a DNS record for ${host} that leads here, or: tancho cname remove ${host} -a ${app.name}`
        : `Add a DNS record for ${host}, or one for the whole domain, that leads here.`,
    };
  },
};
