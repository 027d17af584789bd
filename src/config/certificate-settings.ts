/** The settings of certificates and host names; part of the table in schema.ts. */
import * as acme from './acme-parsers.ts';
import * as parse from './parsers.ts';

export const CERTIFICATE_SETTINGS = {
  certificateAuthority: {
    key: 'certificates.authority',
    variable: 'TANCHO_CERTIFICATES_AUTHORITY',
    default: 'auto',
    description:
      'Who issues certificates where the apps answer by TLS: acme (acme.directory), local (an authority of this platform, which people have to trust: tancho cert trust), none (uploaded ones only), auto (acme where the domain is a real one, local for localhost and private domains). With acme you agree to the terms of the authority. See docs/https.md.',
    parse: parse.choice('auto', 'acme', 'local', 'none'),
  },
  acmeDirectory: {
    key: 'acme.directory',
    variable: 'TANCHO_ACME_DIRECTORY',
    default: 'https://acme-v02.api.letsencrypt.org/directory',
    description: "URL of the authority's ACME directory. The default is Let's Encrypt.",
    parse: acme.directory,
  },
  acmeFallbackDirectory: {
    key: 'acme.fallback-directory',
    variable: 'TANCHO_ACME_FALLBACK_DIRECTORY',
    default: '',
    description: 'URL of a second authority, which is asked when the first one is away, refuses, or has a limit.',
    parse: acme.directoryOrNone,
  },
  acmeEmail: {
    key: 'acme.email',
    variable: 'TANCHO_ACME_EMAIL',
    default: '',
    description: 'Where the authority may write to. None: it has no address.',
    parse: acme.emailOrNone,
  },
  acmeExternalAccount: {
    key: 'acme.external-account',
    variable: 'TANCHO_ACME_EXTERNAL_ACCOUNT',
    default: '',
    description: 'For authorities that take only accounts they know: the key id and the HMAC key they gave, as id:key.',
    secret: true as const,
    parse: acme.externalAccountOrNone,
  },
  acmeFallbackExternalAccount: {
    key: 'acme.fallback-external-account',
    variable: 'TANCHO_ACME_FALLBACK_EXTERNAL_ACCOUNT',
    default: '',
    description: 'The same for the second authority.',
    secret: true as const,
    parse: acme.externalAccountOrNone,
  },
  acmeProfile: {
    key: 'acme.profile',
    variable: 'TANCHO_ACME_PROFILE',
    default: '',
    description: "One of the authority's profiles, for example shortlived. None: its own choice.",
    parse: acme.word,
  },
  acmeNewCertificatesPerUser: {
    key: 'acme.new-certificates-per-user',
    variable: 'TANCHO_ACME_NEW_CERTIFICATES_PER_USER',
    default: '25',
    description:
      "How many new certificates a week the apps of one user get for names below the domain, so that nobody uses up the authority's limit for it (50 at Let's Encrypt); admins have no bound. Each server counts from its start on. 0: nobody has. Where a wildcard certificate is for all apps, names below the domain need none.",
    parse: parse.wholeNumber(0, 1_000_000),
  },
  acmeRoots: {
    key: 'acme.roots',
    variable: 'TANCHO_ACME_ROOTS',
    default: '',
    description:
      'File with roots (PEM) by which the server of acme.directory is trusted, for an authority of your own. It may issue for private names, too.',
    parse: acme.absolutePathOrNone,
  },
  acmeDnsCommand: {
    key: 'acme.dns-command',
    variable: 'TANCHO_ACME_DNS_COMMAND',
    default: '',
    description:
      'A program, with arguments, that sets TXT records of the domain; it is given "set" or "remove", the record and the value, and ends when the record can be seen. With it one wildcard certificate is for all apps (dns-01).',
    parse: acme.argvOrNone,
  },
  acmeDnsPersist: {
    key: 'acme.dns-persist',
    variable: 'TANCHO_ACME_DNS_PERSIST',
    default: 'off',
    description:
      'With on, one wildcard certificate is for all apps, and a single TXT record that stays proves the domain (dns-persist-01). "tancho cert trust" shows the record.',
    parse: parse.onOff,
  },
  certificateLook: {
    key: 'certificates.look',
    variable: 'TANCHO_CERTIFICATES_LOOK',
    default: 'on',
    description:
      'Whether names are looked at from here before an authority is asked. Turn it off where this machine sees other names or ports than the world does.',
    parse: parse.onOff,
  },
  dnsServers: {
    key: 'dns.servers',
    variable: 'TANCHO_DNS_SERVERS',
    default: '',
    description:
      'Name servers that are asked where host names lead: addresses, with a port where it is not 53, with commas between them. None: those of this machine.',
    parse: acme.nameServers,
  },
  hostNameProof: {
    key: 'host-names.proof',
    variable: 'TANCHO_HOST_NAMES_PROOF',
    default: 'auto',
    description:
      'Whether a team has to prove that an extra host name is its own before an app answers at it: required, off, auto (required where the domain is a real one). Admins need no proof.',
    parse: parse.choice('auto', 'required', 'off'),
  },
};
