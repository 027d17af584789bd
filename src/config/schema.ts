/**
 * Every setting as data: config.yaml, the environment variables and docs/config.md are all made from this table.
 * It does not read anything; load.ts does.
 */
import type { Config } from './config.ts';
import { CERTIFICATE_SETTINGS } from './certificate-settings.ts';
import { namedEngines } from './engine-settings.ts';
import * as parse from './parsers.ts';
import { IMAGE_SETTINGS } from './image-settings.ts';
import { RESOURCE_SETTINGS } from './resource-settings.ts';

export interface Setting<T> {
  /** Name in config.yaml. */
  readonly key: string;
  /** Environment variable; it wins over the file. */
  readonly variable: string;
  /** The default as it would be written in the file; '' stands for none. */
  readonly default: string;
  /** One or two sentences for the operator. */
  readonly description: string;
  /** In the file it may also be written as names with values; they come to the parser as `name=value` with commas between. */
  readonly isMap?: true;
  /** Its value is never shown. */
  readonly secret?: true;
  readonly parse: parse.Parser<T>;
}

/** Config with one flat field per setting. */
export type Values = Omit<Config, 'home' | 'admin'> & {
  readonly adminEmail: string;
  readonly adminPassword: string | null;
};

type Settings = { readonly [Field in keyof Values]: Setting<Values[Field]> };

export const SETTINGS: Settings = {
  apiListen: {
    key: 'api.listen',
    variable: 'TANCHO_API_LISTEN',
    default: '127.0.0.1:8080',
    description:
      'Address and port of the API, its description for people (`/docs`) and git over HTTP. Port 0 takes any free port.',
    parse: parse.listen,
  },
  edgeListen: {
    key: 'edge.listen',
    variable: 'TANCHO_EDGE_LISTEN',
    default: '127.0.0.1:8000',
    description: 'Address and port where the apps answer.',
    parse: parse.listen,
  },
  tlsListen: {
    key: 'edge.tls.listen',
    variable: 'TANCHO_TLS_LISTEN',
    default: 'auto',
    description:
      'Address and port where the apps answer by HTTPS, for the names that there is a certificate for. auto: port 443 of the host of edge.listen where that has port 80, else off. See docs/tls.md.',
    parse: parse.listenAutoOrOff,
  },
  sshListen: {
    key: 'ssh.listen',
    variable: 'TANCHO_SSH_LISTEN',
    default: '127.0.0.1:2222',
    description: 'Address and port of git over SSH.',
    parse: parse.listen,
  },
  domain: {
    key: 'domain',
    variable: 'TANCHO_DOMAIN',
    default: 'localhost',
    description: 'Apps answer at <app>.<domain>. Names below localhost reach this machine without any DNS.',
    parse: parse.hostName,
  },
  apiDomain: {
    key: 'api.domain',
    variable: 'TANCHO_API_DOMAIN',
    default: '',
    description:
      'Host name at which the API, the dashboard and git over HTTP answer where the apps do, so also by HTTPS. None: api.<domain>. No app can have it.',
    parse: parse.hostNameOrNone,
  },
  publicAddress: {
    key: 'public-address',
    variable: 'TANCHO_PUBLIC_ADDRESS',
    default: '',
    description:
      'The IP address that the host names of apps lead to, shown as the Ip of apps. None: where the names below the domain lead by DNS, else the address of edge.listen, else the first one of this machine.',
    parse: parse.ipAddressOrNone,
  },
  databaseUrl: {
    key: 'database.url',
    variable: 'TANCHO_DATABASE_URL',
    default: '',
    description:
      'PostgreSQL address (postgres://...). None: the embedded SQLite in the home. One server at a time works with a database, unless process-engine is off (docs/controls.md).',
    secret: true,
    parse: parse.databaseUrlOrNone,
  },
  secretKey: {
    key: 'secret-key',
    variable: 'TANCHO_SECRET_KEY',
    default: '',
    description:
      'The key that seals secrets, as the line of secret.key in the home of a server, for servers that share a database; each puts it into its own home. None: the one in the home, which the first start makes.',
    secret: true,
    parse: parse.sealKeyOrNone,
  },
  adminEmail: {
    key: 'admin.email',
    variable: 'TANCHO_ADMIN_EMAIL',
    default: 'admin@tancho.local',
    description: 'E-mail of the first admin, who is created on the first start.',
    parse: parse.email,
  },
  adminPassword: {
    key: 'admin.password',
    variable: 'TANCHO_ADMIN_PASSWORD',
    default: '',
    description: 'Password of the first admin, 6 to 50 characters. None: one is generated and printed once.',
    secret: true,
    parse: parse.passwordOrNone,
  },
  registration: {
    key: 'auth.registration',
    variable: 'TANCHO_AUTH_REGISTRATION',
    default: 'auto',
    description:
      'Who may create an account: open (anybody), closed (admins only), auto (anybody on this machine, the apps on it included, while the API listens on loopback only, the domain is localhost and no proxy is set; requests that came through a proxy are refused).',
    parse: parse.choice('auto', 'open', 'closed'),
  },
  sessionDays: {
    key: 'auth.session-days',
    variable: 'TANCHO_AUTH_SESSION_DAYS',
    default: '30',
    description: 'Days until a login expires.',
    parse: parse.wholeNumber(1, 3650),
  },
  appsPerUser: {
    key: 'quotas.apps-per-user',
    variable: 'TANCHO_QUOTAS_APPS_PER_USER',
    default: '',
    description: 'How many apps a user may own, unless an admin sets another limit. None: as many as they like.',
    parse: parse.wholeNumberOrNone(0, 999_999_999),
  },
  unitsPerApp: {
    key: 'quotas.units-per-app',
    variable: 'TANCHO_QUOTAS_UNITS_PER_APP',
    default: '',
    description: 'How many units an app may have, unless an admin sets another limit. None: as many as it likes.',
    parse: parse.wholeNumberOrNone(0, 999_999_999),
  },
  mailUrl: {
    key: 'mail.url',
    variable: 'TANCHO_MAIL_URL',
    default: '',
    description:
      'Mail server: smtp://user:password@mail.example.com:587, encrypted as soon as the server offers it, or smtps://... from the first byte. None: letters are files in mail/ of the home, for the operator to pass on.',
    secret: true,
    parse: parse.mailUrlOrNone,
  },
  mailFrom: {
    key: 'mail.from',
    variable: 'TANCHO_MAIL_FROM',
    default: 'tancho@localhost.localdomain',
    description: 'The sender of letters.',
    parse: parse.email,
  },
  metricsOtlpUrl: {
    key: 'metrics.otlp.url',
    variable: 'TANCHO_METRICS_OTLP_URL',
    default: '',
    description:
      'Where all that GET /metrics says is sent once a minute, by OTLP over HTTP as JSON: the whole address, for example https://collector.example.com/v1/metrics. The rules of providers.allow hold for it, too. None: nowhere.',
    parse: parse.httpUrlOrNone('https://collector.example.com/v1/metrics'),
  },
  metricsOtlpHeaders: {
    key: 'metrics.otlp.headers',
    variable: 'TANCHO_METRICS_OTLP_HEADERS',
    default: '',
    description:
      'Headers that the receiver of metrics wants, as name=value with commas between them, or in the file one line "name: value" each below "headers:".',
    isMap: true,
    secret: true,
    parse: parse.httpHeaders,
  },
  providersAllow: {
    key: 'providers.allow',
    variable: 'TANCHO_PROVIDER_ALLOW',
    default: '',
    description:
      'Providers of services at private addresses that may be called: host names, addresses and CIDR networks with commas between them, for example db.internal, 10.0.0.0/8. None: public addresses only, and loopback while the API itself listens on loopback only. Link-local and metadata addresses and the ports of this server are never called.',
    parse: parse.allowedAddresses,
  },
  ...IMAGE_SETTINGS,
  engines: {
    key: 'engines',
    variable: 'TANCHO_ENGINES',
    default: '',
    description:
      'Kubernetes clusters that pools may name as their engine, as name=kubernetes:<kubeconfig>?<options> with commas between them, or in the file one line "name: kubernetes:..." each below "engines:"; in-cluster in place of a file is the cluster that the server runs in. See docs/engines.md.',
    isMap: true,
    parse: namedEngines,
  },
  processEngine: {
    key: 'process-engine',
    variable: 'TANCHO_PROCESS_ENGINE',
    default: 'on',
    description:
      'With off, no units run on this machine: the first of the engines is that of the default pool, and several servers may share one PostgreSQL. See docs/controls.md.',
    parse: parse.onOff,
  },
  ownEdge: {
    key: 'edge',
    variable: 'TANCHO_EDGE',
    default: 'on',
    description:
      'With off, this server has no edge: requests to apps come in over edges of their own alone, and edge.listen and edge.tls.listen say at which ports these answer. It takes process-engine off. See docs/edges.md.',
    parse: parse.onOff,
  },
  healers: {
    key: 'healers',
    variable: 'TANCHO_HEALERS',
    default: '',
    description:
      'Healers that run elsewhere: their names with the addresses that execute them, as name=address with commas between them, or in the file one line "name: address" each below "healers:". The rules of providers.allow hold for them, too.',
    isMap: true,
    secret: true,
    parse: parse.namedUrls,
  },
  healingIntervalSeconds: {
    key: 'healing.interval',
    variable: 'TANCHO_HEALING_INTERVAL',
    default: '60s',
    description:
      'Time between two rounds in which all healers run by themselves; 0 for never, then they run when an admin asks for it.',
    parse: parse.seconds(0, 86_400),
  },
  edgeWorkers: {
    key: 'edge.workers',
    variable: 'TANCHO_EDGE_WORKERS',
    default: '1',
    description: 'Processes that carry the traffic of the apps. More than the number of cores gains nothing.',
    parse: parse.wholeNumber(1, 64),
  },
  trustedProxies: {
    key: 'trusted-proxies',
    variable: 'TANCHO_TRUSTED_PROXIES',
    default: '',
    description:
      'Proxies in front of the API and the apps: addresses and CIDR networks with commas between them, for example 127.0.0.1, 10.0.0.0/8. From them X-Forwarded-For, -Proto and -Host or Forwarded are believed and continued; from everybody else they are replaced. See docs/proxies.md.',
    parse: parse.networks,
  },
  proxyProtocol: {
    key: 'edge.proxy-protocol',
    variable: 'TANCHO_EDGE_PROXY_PROTOCOL',
    default: 'off',
    description:
      'With on, every connection of a trusted proxy to the apps begins with a header of the PROXY protocol, version 1 or 2, as balancers of TCP connections send it.',
    parse: parse.onOff,
  },
  hstsSeconds: {
    key: 'edge.tls.hsts',
    variable: 'TANCHO_TLS_HSTS',
    default: '0',
    description:
      'Time for which browsers are asked, with every answer by HTTPS, to come back by HTTPS only (Strict-Transport-Security); 0 for never. Apps that say it themselves are left alone.',
    parse: parse.seconds(0, 63_072_000),
  },
  http2: {
    key: 'edge.http2',
    variable: 'TANCHO_EDGE_HTTP2',
    default: 'on',
    description: 'With off, clients get HTTP/1.1 over TLS also where they offer HTTP/2.',
    parse: parse.onOff,
  },
  edgeHandoverSeconds: {
    key: 'edge.handover',
    variable: 'TANCHO_EDGE_HANDOVER',
    default: '10m',
    description:
      'How long connections that were open before an upgrade, such as websockets, may stay with the edge of the version before.',
    parse: parse.seconds(0, 86_400),
  },
  edgeDrainSeconds: {
    key: 'edge.drain',
    variable: 'TANCHO_EDGE_DRAIN',
    default: '0',
    description:
      'How long an edge that is to end closes open connections only with their next answer, so that no client sends a request while its connection is being closed; then idle ones, too. In the first half of it new connections are taken and the health check of the edge fails (docs/edges.md), so that balancers send nobody any more; in the second half they are refused. 0: idle ones are closed at once.',
    parse: parse.seconds(0, 3_600),
  },
  ...CERTIFICATE_SETTINGS,
  isolation: {
    key: 'isolation',
    variable: 'TANCHO_ISOLATION',
    default: 'auto',
    description:
      'How apps are kept apart: bubblewrap (namespaces), user (one system user per app), plain (not at all), auto (the strongest this machine has). A named level must be there, or the server does not start.',
    parse: parse.choice('auto', 'bubblewrap', 'user', 'plain'),
  },
  network: {
    key: 'network.mode',
    variable: 'TANCHO_NETWORK',
    default: 'auto',
    description:
      'Whether each unit has a network of its own: own (it must be possible, or the server does not start), shared (all have the network of the machine), auto (own where this machine allows it: iproute2 and nftables, and root or pasta).',
    parse: parse.choice('auto', 'own', 'shared'),
  },
  networkAllow: {
    key: 'network.allow',
    variable: 'TANCHO_NETWORK_ALLOW',
    default: '',
    description:
      'IPv4 networks that apps with networks of their own reach although they are private: CIDR networks with commas between them, for example 10.1.0.0/16. None: apps reach the internet and what is bound to them. This machine and link-local addresses, those of cloud metadata among them, are never open.',
    parse: parse.ipv4Networks,
  },
  ...RESOURCE_SETTINGS,
};
