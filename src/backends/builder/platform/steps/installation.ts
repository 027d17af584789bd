/** Pure: of which package an installation failed, and which host it wanted and did not reach, by the lines that package managers print. */

export interface Trouble {
  readonly package: string;
  /** Null: something else went wrong. */
  readonly host: string | null;
  /** The command that takes its newest version; null where there is no such command. */
  readonly update: string | null;
}

interface Sign {
  /** The first group is the package. */
  readonly says: RegExp;
  /** What adds a package of a version to the app. */
  readonly adds?: string;
}

const PACKAGE = '((?:@[\\w.-]+\\/)?[\\w.-]+)';
/** Lines that name the package that failed. */
const FAILED: readonly Sign[] = [
  { says: new RegExp(`^npm (?:error|ERR!) path .*node_modules/${PACKAGE}$`), adds: 'npm install' },
  { says: new RegExp(`^\\S*node_modules/${PACKAGE} (?:pre|post)?install: Failed$`), adds: 'pnpm add' },
  { says: new RegExp(`^error .*node_modules/${PACKAGE}: Command failed`), adds: 'yarn add' },
  { says: new RegExp(`YN0009: .*?${PACKAGE}@npm:\\S+ couldn't be built`), adds: 'yarn add' },
  { says: new RegExp(`^error: (?:pre|post)?install script from "${PACKAGE}" `), adds: 'bun add' },
  { says: /^npm (?:error|ERR!) command git .*[/:]([\w-][\w.-]*?)(?:\.git)?$/ },
  { says: /^go: ([\w.~-]+\.\w+\/[\w./~-]+)@\S+: / },
  { says: /Failed to (?:download(?: and build)?|build) `([\w.-]+)/ },
  { says: /failed to run custom build command for `([\w-]+) v/ },
  { says: /failed to (?:get|load source for dependency) `([\w-]+)`/ },
  { says: /An error occurred while installing ([\w.-]+) \(/ },
  { says: /Failed to download ([\w.-]+\/[\w.-]+) from (?:dist|source)/ },
];
/** With npm, other things than installations have a path. */
const NPM_SCRIPT = /^npm (?:error|ERR!) command failed/;
/** Whose line it is, where several packages print at the same time. */
const PREFIXED = new RegExp(
  `^(?:\\S*node_modules/${PACKAGE} (?:pre|post)?install: |\\S* YN0000: .*?${PACKAGE}@npm:\\S+ )`,
);

const UNREACHED =
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|UnknownHostException)\b|(?:could not|couldn't|unable to|failed to) (?:resolve (?:host|address)|lookup address|reach host)|temporary failure in name resolution|name or service not known|no such host|tunneling socket could not be established|CONNECT tunnel failed|failed to establish a new connection|i\/o timeout|dns error/i;
const NAME = '([\\w-]+(?:\\.[\\w-]+)+)';
const HOSTS: readonly RegExp[] = [
  new RegExp(`getaddrinfo (?:ENOTFOUND|EAI_AGAIN) ${NAME}`),
  new RegExp(`resolve (?:host(?:name| address)?|address for):? ['"‘]?${NAME}`, 'i'),
  new RegExp(`reach host ${NAME}`, 'i'),
  new RegExp(`\\blookup ${NAME}`),
  new RegExp(`UnknownHostException: ${NAME}`),
  new RegExp(`host='${NAME}'`),
];
const ADDRESS = new RegExp(`https?://(?:[^\\s/@"'\`]*@)?${NAME}`);
const OWN = /^(?:127\.|0\.|localhost$)/;
const MAX_PACKAGES = 500;

/** Looks at lines as they come. */
export class InstallationOutput {
  #failed: { readonly name: string; readonly adds: string | null } | null = null;
  #isNpmScript = false;
  /** Of the last address that was printed, in case it is the one. */
  #asked: string | null = null;
  /** Package -> the first host that it did not reach; '': whose line it is, is not said. */
  readonly #unreached = new Map<string, string>();

  look(line: string): void {
    const [, ofPnpm, ofYarn] = PREFIXED.exec(line) ?? [];
    const owner = ofPnpm ?? ofYarn ?? '';
    const address = ADDRESS.exec(line)?.[1] ?? null;
    if (UNREACHED.test(line)) {
      const named = HOSTS.map((pattern) => pattern.exec(line)?.[1]).find((name) => name !== undefined);
      const host = named ?? address ?? this.#asked;
      const isKnown = this.#unreached.has(owner) || this.#unreached.size >= MAX_PACKAGES;
      if (host !== null && !OWN.test(host) && !isKnown) this.#unreached.set(owner, host);
    }
    this.#asked = address ?? this.#asked;
    this.#isNpmScript ||= NPM_SCRIPT.test(line);
    for (const { says, adds = null } of FAILED) {
      const name = says.exec(line)?.[1];
      if (name !== undefined) this.#failed ??= { name, adds };
    }
  }

  /** Null where no package is known to have failed. */
  get trouble(): Trouble | null {
    if (this.#failed === null) return null;
    const { name, adds } = this.#failed;
    if (adds === 'npm install' && !this.#isNpmScript) return null;
    const update = adds === null ? null : `${adds} ${name}@latest`;
    return { package: name, host: this.#unreached.get(name) ?? this.host, update };
  }

  /** One that was not reached, of which it is not said for which package. */
  get host(): string | null {
    return this.#unreached.get('') ?? null;
  }
}
