/** Frameworks that answer only to host names in their configuration, and how each says so. */

interface Refusal {
  /** A sentence. */
  readonly why: string;
  /** What to do, for people. */
  readonly hint: string;
}

interface Known {
  readonly status: number;
  /** Of its body. */
  readonly sign: RegExp;
  readonly says: (host: string) => Refusal;
}

const AGAIN = 'commit and push again';

const KNOWN: readonly Known[] = [
  {
    status: 400,
    sign: /<h1>Bad Request \(400\)<\/h1>|DisallowedHost/,
    says: (host) => ({
      why: `Django takes only the names in ALLOWED_HOSTS, and ${host} is not among them.`,
      hint: `Add '${host}' to ALLOWED_HOSTS in the settings of the app, ${AGAIN}.`,
    }),
  },
  {
    status: 403,
    sign: /Blocked request\. This host[^]{0,300}allowedHosts/,
    says: (host) => ({
      why: `Vite takes only the names in allowedHosts, and ${host} is not among them.`,
      hint: `Add '${host}' to preview.allowedHosts and server.allowedHosts in its vite.config, ${AGAIN}.`,
    }),
  },
  {
    status: 403,
    sign: /^Invalid Host header/,
    says: (host) => ({
      why: `webpack-dev-server takes only the names in allowedHosts, and ${host} is not among them.`,
      hint: `Add '${host}' to devServer.allowedHosts in its webpack.config.js, ${AGAIN}.`,
    }),
  },
  {
    status: 403,
    sign: /Blocked hosts?:/,
    says: (host) => ({
      why: `Rails takes only the names in config.hosts, and ${host} is not among them.`,
      hint: `Add config.hosts << '${host}' to the file of its environment in config/environments, ${AGAIN}.`,
    }),
  },
];

export function refusalOf(answer: { readonly status: number; readonly text: string }, host: string): Refusal | null {
  const known = KNOWN.find(({ status, sign }) => status === answer.status && sign.test(answer.text));
  return known?.says(host) ?? null;
}
