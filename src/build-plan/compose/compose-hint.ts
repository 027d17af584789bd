/** A Compose file as a hint: which services the app would need, and which images could be deployed. Nothing of it is followed. */
import { isRecord } from '../../lib/is-record.ts';
import type { SourceFiles } from '../source/source-files.ts';

const FILES = ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'] as const;
/** The last part of the name of an image -> the service that stands for it. */
const SERVICES: Readonly<Record<string, string>> = {
  postgres: 'postgres',
  postgresql: 'postgres',
  postgis: 'postgres',
  pgvector: 'postgres',
  timescaledb: 'postgres',
  redis: 'redis',
  valkey: 'redis',
  'redis-stack': 'redis',
  mysql: 'mysql',
  mariadb: 'mysql',
  mongo: 'mongodb',
  mongodb: 'mongodb',
  rabbitmq: 'rabbitmq',
  memcached: 'memcached',
  elasticsearch: 'elasticsearch',
  opensearch: 'opensearch',
  meilisearch: 'meilisearch',
  minio: 'minio',
  nats: 'nats',
  kafka: 'kafka',
};
/** The providers that come with the platform. */
const OWN_PROVIDERS = new Set(['postgres', 'redis']);
const MOST_NAMED = 5;
const MAX_IMAGE = 500;
/** What can stand in a command line as it is. */
const PLAIN = /^[\w./:@-]{1,200}$/;

interface Entry {
  readonly name: string;
  /** '' for what is built. */
  readonly image: string;
  readonly keepsData: boolean;
}

/** A few lines; none without such a file, or when it cannot be read, for nothing depends on it. */
export async function composeHint(app: string, files: SourceFiles): Promise<string[]> {
  const file = await files.find(...FILES);
  const entries = file === null ? [] : entriesOf(await files.foreignYaml(file));
  if (file === null || entries.length === 0) return [];
  const services = entries.filter(({ image }) => serviceOf(image) !== null);
  const others = entries.filter(({ image }) => image !== '' && PLAIN.test(image) && serviceOf(image) === null);
  const keeping = entries.filter((entry) => entry.keepsData && serviceOf(entry.image) === null);
  return [
    `${file} is not followed: an app here is what this source builds, and others are apps and service instances of their own`,
    ...services.slice(0, MOST_NAMED).map((entry) => needed(app, entry)),
    ...others
      .slice(0, MOST_NAMED)
      .map(
        ({ name, image }) =>
          `Its ${name} is an image, which can be an app of its own: tancho deploy -a <app> --image ${image}`,
      ),
    ...(keeping.length === 0 ? [] : [`Directories that stay, as its volumes do: tancho volume create data -a ${app}`]),
  ];
}

function needed(app: string, { name, image }: Entry): string {
  const service = serviceOf(image) ?? '';
  const make = `tancho instance create ${service} ${app}-${service}, then: tancho instance bind ${app}-${service} -a ${app}`;
  const where = OWN_PROVIDERS.has(service)
    ? `, where an operator runs "tancho provider ${service}"`
    : `, where there is a service called ${service}`;
  return `Its ${name} is ${service}${where}: ${make}`;
}

function serviceOf(image: string): string | null {
  const [, name = ''] = /([^/:@]+)(?::[^/]*)?(?:@.*)?$/.exec(image.slice(0, MAX_IMAGE)) ?? [];
  return Object.hasOwn(SERVICES, name) ? (SERVICES[name] ?? null) : null;
}

function entriesOf(document: unknown): Entry[] {
  const services = isRecord(document) ? document['services'] : undefined;
  if (!isRecord(services)) return [];
  return Object.entries(services).flatMap(([name, service]) => {
    if (!isRecord(service) || !PLAIN.test(name)) return [];
    const { build, image, volumes } = service;
    // What is built is called by the image, which nobody else has to have.
    const pulled = build === undefined && typeof image === 'string' ? image : '';
    return [{ name, image: pulled, keepsData: Array.isArray(volumes) && volumes.length > 0 }];
  });
}
