/** Why a name has no (new) certificate: one closed list, each with what mends it. */

export const CAUSES = [
  'no_address',
  'dns_failed',
  'ipv6_elsewhere',
  'leads_elsewhere',
  'proxied',
  'port_closed',
  'other_server',
  'caa_forbids',
  'not_public',
  'wildcard_needs_dns',
  'persist_record_missing',
  'dns_command_failed',
  'validation_failed',
  'user_limit',
  'rate_limited',
  'authority_away',
  'authority_refuses',
  'account_refused',
  'internal',
] as const;

export type Cause = (typeof CAUSES)[number];

/** What somebody else has to mend: the authority is not asked meanwhile, the name is looked at again soon. */
const OF_THE_NAME: ReadonlySet<Cause> = new Set<Cause>([
  'no_address',
  'dns_failed',
  'ipv6_elsewhere',
  'leads_elsewhere',
  'proxied',
  'port_closed',
  'other_server',
  'caa_forbids',
  'not_public',
  'wildcard_needs_dns',
  'persist_record_missing',
]);

/** Another authority may do better. */
const OF_THE_AUTHORITY: ReadonlySet<Cause> = new Set<Cause>([
  'rate_limited',
  'authority_away',
  'authority_refuses',
  'account_refused',
]);

export const isOfTheName = (cause: Cause): boolean => OF_THE_NAME.has(cause);
export const isOfTheAuthority = (cause: Cause): boolean => OF_THE_AUTHORITY.has(cause);

interface StepFacts {
  readonly name: string;
  /** Where names have to lead. */
  readonly address: string;
  readonly app: string;
}

/** What to do next, one sentence or command. */
export function nextStep(cause: Cause, { name, address, app }: StepFacts): string {
  const record = address.includes(':') ? 'AAAA' : 'A';
  const steps: Record<Cause, string> = {
    no_address: `Add a DNS record for ${name}: ${record} ${address}`,
    dns_failed: `Look at the name servers of ${name}: they do not answer. It is tried again by itself.`,
    ipv6_elsewhere: `Remove the AAAA record of ${name}, or let it lead here: authorities ask IPv6 first.`,
    leads_elsewhere: `Change the DNS record of ${name} to ${record} ${address}${
      app === '' ? '' : `, or: tancho cname remove ${name} -a ${app}`
    }`,
    proxied: `Let the proxy in front of ${name} pass /.well-known/acme-challenge/ on over plain HTTP, or turn it off for this name.`,
    port_closed: `Open port 80 of ${address} in the firewall and let it lead to edge.listen.`,
    other_server: `Another program answers on port 80 of ${address}: stop it, or let it pass requests on to edge.listen.`,
    caa_forbids: `Add the authority to the CAA records of ${name}, or remove them.`,
    not_public: `No public authority issues for ${name}: set acme.directory to one of your own, or tancho cert add --chain <file> --key <file>`,
    wildcard_needs_dns: `Set acme.dns-persist or acme.dns-command (docs/https.md), or tancho cert add --chain <file> --key <file>`,
    persist_record_missing: 'Add the TXT record that "tancho cert why" shows.',
    dns_command_failed: 'Run the command of acme.dns-command by hand, and see the log of the server.',
    validation_failed: `Mend what the authority saw, then: tancho cert renew ${name}`,
    user_limit: `Nothing: it is tried again by itself when the period is over. An operator can raise acme.new-certificates-per-user, then: tancho cert renew ${name}`,
    rate_limited: 'Nothing: it is tried again by itself when the limit is over.',
    authority_away: 'Nothing: it is tried again by itself. A second authority can be set in acme.fallback-directory.',
    authority_refuses: `Read what the authority says; another one can be set in acme.directory, or tancho cert add --chain <file> --key <file>`,
    account_refused: 'Check acme.email and acme.external-account, then restart the server.',
    internal: 'See the log of the server; it is tried again by itself.',
  };
  return steps[cause];
}
