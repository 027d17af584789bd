/** Pure: where the services are that are bound to an app, read out of the variables that their providers have given. */
import type { EnvVar } from '../apps/app.ts';
import type { Address } from './unit.ts';

/** Ports of addresses that name none. */
const STANDARD_PORTS: Readonly<Record<string, number>> = {
  amqp: 5672,
  amqps: 5671,
  elasticsearch: 9200,
  http: 80,
  https: 443,
  kafka: 9092,
  memcached: 11211,
  mongodb: 27017,
  mysql: 3306,
  nats: 4222,
  postgres: 5432,
  postgresql: 5432,
  redis: 6379,
  rediss: 6379,
  smtp: 25,
  smtps: 465,
};

const URL_TEXT = /^([a-z][a-z0-9+.-]*):\/\/(?:[^@/?#]*@)?([^/?#\s]+)/i;
const HOST = /^(?:[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?)$/i;
const MAX_SERVICES = 100;
/** Lists the same once more. */
const PLATFORM = 'tancho:services';

/** Each once, in the order of their variables; at most 100. */
export function boundServices(env: readonly EnvVar[]): Address[] {
  const vars = new Map(
    env.filter(({ managedBy }) => managedBy !== '' && managedBy !== PLATFORM).map(({ name, value }) => [name, value]),
  );
  const found = [...vars].flatMap(([name, value]) => [...inValue(value), ...inPair(name, value, vars)]);
  const unique = new Map(found.map((address) => [`${address.host}:${address.port}`, address]));
  return [...unique.values()].slice(0, MAX_SERVICES);
}

/** `scheme://user:password@host:port,host:port/...`, or `host:port,host:port`. */
function inValue(value: string): Address[] {
  const [, scheme = '', hosts = value] = URL_TEXT.exec(value) ?? [];
  const port = STANDARD_PORTS[scheme.toLowerCase().replace(/\+.*$/, '')];
  return hosts.split(',').flatMap((part) => {
    const [host = '', ownPort, more] = part.trim().split(':');
    if (more !== undefined) return [];
    if (ownPort === undefined && scheme === '') return [];
    return addressOf(host, ownPort ?? `${port ?? ''}`);
  });
}

/** `X_HOST` with its `X_PORT`. */
function inPair(name: string, value: string, vars: ReadonlyMap<string, string>): Address[] {
  const match = /^(.*?)(?:HOST|HOSTNAME|SERVER|ADDR|ADDRESS)$/i.exec(name);
  const port = match === null ? undefined : (vars.get(`${match[1]}PORT`) ?? vars.get(`${match[1]}port`));
  return port === undefined ? [] : addressOf(value, port);
}

function addressOf(host: string, port: string): Address[] {
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  return HOST.test(host) && number >= 1 && number <= 65_535 ? [{ host, port: number }] : [];
}
