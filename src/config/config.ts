/** Every setting, typed. Read from $TANCHO_HOME/config.yaml, then the environment (load.ts); documented in schema.ts. */
import type { EngineSetting } from './engine-settings.ts';

export interface Listen {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

export interface Config {
  /** Absolute path of the one directory with all state (TANCHO_HOME). */
  readonly home: string;
  readonly apiListen: Listen;
  readonly edgeListen: Listen;
  /** Where the apps answer by TLS; see tlsAddress(). */
  readonly tlsListen: Listen | 'auto' | 'off';
  readonly sshListen: Listen;
  /** Apps answer at `<app>.<domain>`. */
  readonly domain: string;
  /** Where the API answers behind the edge; null: see apiDomain(). */
  readonly apiDomain: string | null;
  /** Where these names lead, an IP address; null: found out. */
  readonly publicAddress: string | null;
  /** `postgres://...`, or null for the embedded SQLite in the home. */
  readonly databaseUrl: string | null;
  /** Line of the key file; null: what is in the home. */
  readonly secretKey: string | null;
  readonly admin: { readonly email: string; readonly password: string | null };
  /** `auto`: open while nobody but this machine can reach the platform. */
  readonly registration: 'auto' | 'open' | 'closed';
  /** Hosts and networks of providers that may be called although their addresses are private. */
  readonly providersAllow: readonly string[];
  /** Who we are at registries of images: host -> user and password. */
  readonly registries: ReadonlyMap<string, { readonly user: string; readonly password: string }>;
  /** Where artifacts are pushed for engines elsewhere, `<host>/<path>`; null: nowhere. */
  readonly imageRegistry: string | null;
  /** The daemon that builds images from Dockerfiles; null: buildah does, without one. */
  readonly imageBuilder: { readonly kind: 'docker' } | { readonly kind: 'buildkit'; readonly address: string } | null;
  /** Platform -> the image that its apps are built on; `*` for all others. */
  readonly imageBases: ReadonlyMap<string, string>;
  /** File with PEM of roots by which registries are trusted beside those that everybody trusts; null: none. */
  readonly imageRoots: string | null;
  /** Hosts of registries that get passwords without TLS. */
  readonly insecureRegistries: readonly string[];
  /** Beside this machine, by name. */
  readonly engines: ReadonlyMap<string, EngineSetting>;
  /** Units run on this machine, too; else the first of the engines is the server's own. */
  readonly processEngine: boolean;
  /** Requests come in at this machine, too; else over edges elsewhere alone, and `edgeListen` and `tlsListen` say where those answer. */
  readonly ownEdge: boolean;
  /** Healers of others: name -> address. */
  readonly healers: ReadonlyMap<string, string>;
  /** Seconds between two rounds of the healers; 0: they run on demand only. */
  readonly healingIntervalSeconds: number;
  readonly edgeWorkers: number;
  /** Proxies in front of the API and the edge: addresses and networks. */
  readonly trustedProxies: readonly string[];
  /** Connections of trusted proxies to the edge begin with a header of the PROXY protocol. */
  readonly proxyProtocol: boolean;
  readonly edgeHandoverSeconds: number;
  /** For clients, before an edge ends. */
  readonly edgeDrainSeconds: number;
  /** For how long browsers are to come by HTTPS only; 0: they are not asked to. */
  readonly hstsSeconds: number;
  /** Spoken with clients that offer it over TLS. */
  readonly http2: boolean;
  /** Who issues certificates; `auto`: ACME authorities for a real domain, the local one for others. */
  readonly certificateAuthority: 'auto' | 'acme' | 'local' | 'none';
  /** URLs; the second one is asked when the first one fails. */
  readonly acmeDirectory: string;
  readonly acmeFallbackDirectory: string | null;
  /** '' for none. */
  readonly acmeEmail: string;
  /** `secret` is base64url. */
  readonly acmeExternalAccount: { readonly kid: string; readonly secret: string } | null;
  readonly acmeFallbackExternalAccount: { readonly kid: string; readonly secret: string } | null;
  readonly acmeProfile: string;
  readonly acmeNewCertificatesPerUser: number;
  /** File with PEM of roots; null: the server of the authority is trusted as all others are. */
  readonly acmeRoots: string | null;
  /** Program and arguments; null: none. */
  readonly acmeDnsCommand: readonly string[] | null;
  readonly acmeDnsPersist: boolean;
  /** Names are looked at before an authority is asked. */
  readonly certificateLook: boolean;
  /** Name servers that are asked where names lead; empty: those of the machine. */
  readonly dnsServers: readonly string[];
  /** Whether teams have to prove that a host name is theirs; `auto`: where the domain is a real one. */
  readonly hostNameProof: 'auto' | 'required' | 'off';
  /** Seconds a new unit may take to become ready. */
  readonly startTimeoutSeconds: number;
  readonly watchSeconds: number;
  /** Seconds an old unit may take to finish its requests. */
  readonly drainTimeoutSeconds: number;
  /** Seconds between TERM and KILL. */
  readonly stopGraceSeconds: number;
  readonly buildTimeoutSeconds: number;
  /** Of one step; 0 for no limit. */
  readonly buildMemoryBytes: number;
  /** Of what a unit has written beside its code; 0 for no limit. */
  readonly unitDiskBytes: number;
  readonly unitFiles: number;
  /** With less free space no new code is taken; 0 for never. */
  readonly repositoryBytes: number;
  readonly diskReserveBytes: number;
  /** Of a volume where nothing else is said, and at most for who is no admin; 0 for no limit. */
  readonly volumeMaxBytes: number;
  /** Builds at once; null: half as many as there are cores. */
  readonly buildSlots: number | null;
  /** What a newer push of the same branch takes the place of. */
  readonly pushReplaces: 'waiting' | 'building';
  readonly sessionDays: number;
  /** Apps a user may own, units an app may have, where no other limit was set; null for no limit. */
  readonly appsPerUser: number | null;
  readonly unitsPerApp: number | null;
  /** `smtp://` or `smtps://`, or null for files in the home. */
  readonly mailUrl: string | null;
  readonly mailFrom: string;
  /** Where metrics are sent; null: nowhere. */
  readonly metricsOtlpUrl: string | null;
  readonly metricsOtlpHeaders: ReadonlyMap<string, string>;
  readonly logDays: number;
  /** Of the lines. */
  readonly logBytesPerApp: number;
  /** 0 for no limit. */
  readonly logEntriesPerApp: number;
  /** What all of them take on the disk. */
  readonly logBytes: number;
  /** Absolute path; null: no backups are made. */
  readonly backupDirectory: string | null;
  /** 0: when somebody asks only. */
  readonly backupEverySeconds: number;
  readonly backupKeep: number;
  readonly eventDays: number;
  readonly events: number;
  readonly deployLogsPerApp: number;
  readonly deploysPerApp: number;
  readonly unusedDays: number;
  readonly toolBytes: number;
  /** Bytes of memory a unit may use; 0 for no limit. */
  readonly unitMemoryBytes: number;
  /** `auto` takes the strongest level this machine has; a named level must be there, or the server does not start. */
  readonly isolation: 'auto' | 'bubblewrap' | 'user' | 'plain';
  /** `own`: every unit has a network of its own, or the server does not start; `shared`: all have the machine's. */
  readonly network: 'auto' | 'own' | 'shared';
  /** IPv4 networks that are open to apps although they are private. */
  readonly networkAllow: readonly string[];
}

/** Socket in the directory `run` of the home where the API takes requests that the edge brings. */
export const EDGE_DOOR = 'edge-door.sock';

/** The host name of the API at the edge's addresses. */
export function apiDomain({ apiDomain: name, domain }: Pick<Config, 'apiDomain' | 'domain'>): string {
  return name ?? `api.${domain}`;
}

const HTTP_PORT = 80;
const HTTPS_PORT = 443;

/** Where TLS is spoken; null: nowhere. By itself it is where the apps are at the port of the web. */
export function tlsAddress({ edgeListen, tlsListen }: Pick<Config, 'edgeListen' | 'tlsListen'>): Listen | null {
  if (tlsListen === 'off') return null;
  if (tlsListen !== 'auto') return tlsListen;
  return edgeListen.port === HTTP_PORT ? { host: edgeListen.host, port: HTTPS_PORT } : null;
}
