/** Pure: what to do about mistakes that package managers word for those who know them, and whose mistakes they are. */
import { InstallationOutput, type Trouble } from './installation.ts';

/** Longer ones are no words for people. */
const MAX_LINE = 1_000;
/** For all lines of a step: a build may print as much as it likes, and lines that take long. */
const MAX_LOOKS_MS = 2_000;

interface Known {
  readonly says: RegExp;
  /** Made of what the groups of `says` have found, where it needs them. */
  readonly advice: string | ((found: readonly string[]) => string);
  /** Some host was not reached. */
  readonly isNetwork?: true;
}

const OUTDATED = (lock: string, command: string): string =>
  `${lock} does not fit package.json. Run "${command}" in the app, commit ${lock} and push again.`;

/** The first one that some line fits is taken, so the particular ones come first. */
const KNOWN: readonly Known[] = [
  {
    says: /package\.json and package-lock\.json .*in sync|package-lock\.json .*are not in sync/,
    advice: OUTDATED('package-lock.json', 'npm install'),
  },
  {
    says: /Your lockfile needs to be updated|YN0028|lockfile would have been modified by this install/,
    advice: OUTDATED('yarn.lock', 'yarn install'),
  },
  { says: /ERR_PNPM_OUTDATED_LOCKFILE/, advice: OUTDATED('pnpm-lock.yaml', 'pnpm install') },
  {
    says: /npm error code ERESOLVE/,
    advice:
      'Packages want versions of each other that do not fit. Make "npm install" work in the app, commit package-lock.json and push again.',
  },
  {
    says: /Failed to fetch `?[^`]{1,80}`? from Google Fonts|Failed to fetch font `|\bhttps:\/\/fonts\.googleapis\.com\/\S* failed\b|\b(?:ENOTFOUND|EAI_AGAIN) fonts\.(?:googleapis|gstatic)\.com\b/,
    isNetwork: true,
    advice:
      'The build fetches fonts from fonts.googleapis.com, which this server does not reach: this is no fault of the code. Ask the operator to let it, directly or through a proxy (HTTPS_PROXY); or keep the fonts in the app (next/font/local), commit and push again.',
  },
  {
    says: /(?:^npm |^error |YN\d{4}|ERR_PNPM|https:).*\b(?:ENOTFOUND|EAI_AGAIN)\b|Installation error: getaddrinfo (?:ENOTFOUND|EAI_AGAIN)|Temporary failure in name resolution|Name or service not known|Could not resolve host|Could not reach host \S+\. Check your network connection|UnknownHostException: (?:services|plugins)\.gradle\.org|no such host|failed to lookup address|server misbehaving/,
    isNetwork: true,
    advice:
      'The server could not find the address of a registry or repository: this is no fault of the code. Push again; if it stays so, an operator has to look at the name resolution of the server, or at the registry or proxy that is set for it.',
  },
  {
    says: /(?:^npm |^error |YN\d{4}|ERR_PNPM|https:).*\b(?:ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ESOCKETTIMEDOUT)\b|Failed to establish a new connection|Read timed out|client error \(Connect\)|i\/o timeout|TLS handshake timeout/,
    isNetwork: true,
    advice:
      'The server could not reach a registry or repository: this is no fault of the code. Push again in a few minutes; if it stays so, an operator has to look at the network of the server, or at the registry or proxy that is set for it.',
  },
  {
    says: /\b(?:SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT_LOCALLY|UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_HAS_EXPIRED)\b|CERTIFICATE_VERIFY_FAILED|x509: certificate/,
    advice:
      'The certificate of a registry or repository is not trusted by the server: this is no fault of the code. An operator has to add its authority (NODE_EXTRA_CA_CERTS, PIP_CERT, SSL_CERT_FILE), or name another registry.',
  },
  {
    says: /^go: download go1\.\S+: /,
    advice:
      'The version of Go that go.mod asks for could not be fetched. Check that there is such a version, correct the lines "go" and "toolchain", and push again.',
  },
  {
    says: /^(\S{1,200}\.go):\d+:\d+: pattern (\S{1,200}): no matching files found/,
    advice: ([file = '', pattern = '']) =>
      `${file} takes ${pattern} into the program, and the source has nothing there, which mostly is what a front end is built to. Build it, add what it makes (git add -f), commit and push again; or build by a Dockerfile, where there is one.`,
  },
  {
    says: /\bERR_OSSL_EVP_UNSUPPORTED\b|error:0308010C:digital envelope routines::unsupported/,
    advice:
      'A bundler of this app (webpack 4 or older) needs a hash that Node has refused since version 17. Ask for an older Node, with "engines": { "node": "16" } in package.json, commit and push again; or allow the hash and push again: tancho env set NODE_OPTIONS=--openssl-legacy-provider',
  },
  {
    says: /((?:--ignore-platform-req=ext-[\w-]{1,40}[ `]){1,40})/,
    advice: ([options = '']) => missingExtensions(options.match(/(?<=ext-)[\w-]+/g) ?? []),
  },
  {
    says: /npm error code E5\d\d|ERR_PNPM_FETCH_5\d\d|error .*Request failed "5\d\d|HTTP error 5\d\d|50[0-4] (?:Internal Server Error|Bad Gateway|Service Unavailable|Gateway Time-?out)/,
    advice: 'A registry answered that it is out of order: this is no fault of the code. Push again in a few minutes.',
  },
  {
    says: /Permission denied \(publickey\)|Host key verification failed|Could not read from remote repository|could not read Username for/,
    advice:
      'A package comes from a git repository that wants a login, and builds have no keys. Use its https address with a token, or a registry.',
  },
  {
    says: /(?:ERR_PNPM_FETCH_40[134]\]?\s{1,4}GET|npm (?:error|ERR!) 40[134] .{0,60}- GET) \S*\/((?:@[\w.-]+%2[fF])?[\w.-]+)(?::|\s|$)/,
    advice: ([name = '']) => notThere(name.replace(/%2f/i, '/')),
  },
  { says: /^error Couldn't find package "([^"]{1,214})"/, advice: ([name = '']) => notThere(name) },
  {
    says: /YN0035: .{0,3}((?:@[\w.-]+\/)?[\w.-]+)@npm:/,
    advice: ([name = '']) => notThere(name, 'a .yarnrc.yml'),
  },
  {
    says: /npm error code E(?:401|403|404|NEEDAUTH)|ERR_PNPM_FETCH_40[134]|error .*Request failed "40[134]/,
    advice: () => notThere('A package'),
  },
  { says: /YN0035/, advice: () => notThere('A package', 'a .yarnrc.yml') },
  {
    says: /current Python version \([^)]*\) does not satisfy Python>=(\d+\.\d+)|that require a different python version: .*Requires-Python >=(\d+\.\d+)/,
    advice: (found) => {
      const version = found.find((one) => one !== '') ?? '';
      return `A package that is asked for needs Python ${version} or newer. Write ${version} into a file named .python-version at the top of the repository, commit and push again; or ask for a version of the package that an older Python suffices for.`;
    },
  },
  {
    says: /npm (?:error|ERR!) (?:code ETARGET|notarget)|ERR_PNPM_NO_MATCHING_VERSION|^error Couldn't find any versions for|YN0082|^error: No version matching/,
    advice:
      'No version of a package fits what is asked for; the line above names it. Ask for one that there is in package.json, write the lock file anew if there is one, commit and push again.',
  },
  {
    says: /No matching distribution found for|Because there (?:is no version|are no versions) of |was not found in the package registry/,
    advice:
      'Check the name and the version of the package that is named, and that it exists for this version of Python; then push again.',
  },
  {
    says: /Environment variable not found: ([A-Z][A-Z0-9_]*)|^(?:.*\.)?UndefinedValueError: ([A-Z][A-Z0-9_]*) not found|Set the ([A-Z][A-Z0-9_]*) environment variable|^KeyError: '([A-Z][A-Z0-9_]+)'/,
    advice: (found) => setFirst(found.find((name) => name !== '') ?? 'NAME'),
  },
  {
    says: /^(?!.*\bwarn).*\b(?:missing|invalid|undefined|required)\b.{0,40}\benvironment variables?\b|^(?!.*\bwarn).*\benvironment variables?\b.{0,40}\b(?:missing|required|undefined|not (?:defined|set|found))\b/i,
    advice: () => setFirst('NAME'),
  },
  {
    says: /\bgetaddrinfo (?:ENOTFOUND|EAI_AGAIN) ((?:[\w-]{1,63}\.){1,8}[a-z]{2,24})\b/,
    advice: ([host = '']) =>
      `What it printed says why. It asked ${host}, which this server does not reach: if the build needs it, ask the operator to let it, directly or through a proxy (HTTPS_PROXY), and push again.`,
  },
];

/** As it is to stand in the file. */
const TOKEN = '${NPM_TOKEN}';

function missingExtensions(names: readonly string[]): string {
  const [need, packages] = [names.join(', '), names.map((name) => `php-${name}`).join(' ')];
  return `Packages need extensions of PHP that this server does not have (${need}): this is no fault of the code. Ask the operator to install them (apt-get install -y ${packages}), then push again.`;
}

function notThere(name: string, file = 'an .npmrc'): string {
  return `${name} is not there, or its registry wants a login. Check its name; for a private one commit ${file} that reads the token from the environment (${TOKEN}) and set it: tancho env set -p NPM_TOKEN=...`;
}

function setFirst(name: string): string {
  return `The build asks for a variable that the app does not have. Set what it names, as it is to be in use, and push again: tancho env set -p ${name}=...`;
}

/** Looks at lines as they come. */
export class Advice {
  #rank = KNOWN.length;
  #found: readonly string[] = [];
  readonly #installation = new InstallationOutput();
  #spentMs = 0;

  look(printed: string): void {
    if (this.#spentMs > MAX_LOOKS_MS) return;
    const begun = performance.now();
    this.#lookAt(printed.slice(0, MAX_LINE));
    this.#spentMs += performance.now() - begun;
  }

  #lookAt(line: string): void {
    const rank = KNOWN.findIndex(({ says }) => says.test(line));
    if (rank !== -1 && rank < this.#rank) {
      this.#rank = rank;
      this.#found =
        KNOWN[rank]?.says
          .exec(line)
          ?.slice(1)
          .map((text) => text ?? '') ?? [];
    }
    this.#installation.look(line);
  }

  /** What to do; null where that is not known. */
  get text(): string | null {
    const { trouble } = this.#installation;
    if (trouble !== null && trouble.host !== null) return unreached(trouble, trouble.host);
    const advice = KNOWN[this.#rank]?.advice;
    if (advice !== undefined) return typeof advice === 'string' ? advice : advice(this.#found);
    return trouble === null ? null : failed(trouble);
  }

  /** What it is, as half a sentence; null where the lines have to say it themselves. */
  get cause(): string | null {
    const { trouble, host } = this.#installation;
    if (trouble !== null && trouble.host !== null)
      return `the installation of ${trouble.package} fetches from ${trouble.host}, which this server does not reach`;
    if (KNOWN[this.#rank]?.isNetwork === true) return host === null ? null : `this server does not reach ${host}`;
    return trouble === null || KNOWN[this.#rank] !== undefined ? null : `the installation of ${trouble.package} failed`;
  }
}

function unreached({ package: name, update }: Trouble, host: string): string {
  const newer = update === null ? '' : ` (${update})`;
  const hint = `This is no fault of the code. Take a version of ${name} that fetches nothing from there${newer}, commit and push again; or ask the operator to let the server reach ${host}, directly or through a proxy (HTTPS_PROXY).`;
  return hint;
}

function failed({ package: name }: Trouble): string {
  const hint = `What it printed says what ${name} lacks. Take another version of it, commit and push again; or ask the operator to install what it needs on the server.`;
  return hint;
}
