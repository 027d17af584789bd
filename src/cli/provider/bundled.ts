/** The providers that come with the program. */
import { serveProvider } from '../../providers/serve.ts';
import type { ProviderHandlers } from '../../providers/contract.ts';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { type ServeAt, type ServeFlags, serveUntilSignal, type Started } from './serve.ts';

interface ServerFlags extends ServeFlags {
  readonly url?: string;
  readonly appsHost?: string;
}

export async function servePostgres(cli: Cli, flags: ServerFlags): Promise<void> {
  const url = serverUrl(cli, flags, ['postgres:', 'postgresql:'], 'postgres://user:password@127.0.0.1:5432');
  const { createPostgresProvider } = await import('../../providers/postgres/postgres.ts');
  await serveUntilSignal(cli, flags, async (place) => {
    const provider = await createPostgresProvider({ url, service: flags.name, ...appsHost(flags) });
    const open = await provider.openDatabases();
    const names = open.slice(0, 5).join(', ') + (open.length > 5 ? ', ...' : '');
    const warnings = [
      `Every role of the server, those of bindings too, may connect to: ${names}. To close one: REVOKE CONNECT ON DATABASE <name> FROM PUBLIC`,
    ];
    return serve(place, provider, open.length === 0 ? [] : warnings, () => provider.close());
  });
}

export async function serveRedis(cli: Cli, flags: ServerFlags): Promise<void> {
  const url = serverUrl(cli, flags, ['redis:', 'rediss:'], 'redis://:password@127.0.0.1:6379');
  const { createRedisProvider } = await import('../../providers/redis/redis.ts');
  await serveUntilSignal(cli, flags, async (place) => {
    const provider = await createRedisProvider({ url, service: flags.name, log: place.log, ...appsHost(flags) });
    return serve(place, provider, await provider.warnings(), async () => provider.close());
  });
}

export async function serveMock(cli: Cli, flags: ServeFlags & { misbehave: readonly string[] }): Promise<void> {
  const { startMockProvider } = await import('../../providers/mock/mock.ts');
  const { ruleOfText } = await import('../../providers/mock/rules.ts');
  const rules = flags.misbehave.map((text) => {
    try {
      return ruleOfText(text);
    } catch (error) {
      throw new UsageError(error instanceof Error ? error.message : String(error));
    }
  });
  await serveUntilSignal(cli, flags, async (place) => {
    const mock = await startMockProvider({ ...place, rules, exit: () => cli.context.server.exit(1) });
    return { url: mock.url, stop: () => mock.stop(), warnings: [], isLasting: false };
  });
}

/** What was opened for a provider that cannot listen is closed again. */
async function serve(
  place: ServeAt,
  handlers: ProviderHandlers,
  warnings: readonly string[],
  close: () => Promise<void>,
): Promise<Started> {
  try {
    const server = await serveProvider({ ...place, handlers });
    return { url: server.url, warnings, isLasting: true, stop: () => server.stop().finally(close) };
  } catch (error) {
    await close();
    throw error;
  }
}

function serverUrl(cli: Cli, flags: ServerFlags, protocols: readonly string[], example: string): string {
  const given = flags.url ?? cli.context.env['TANCHO_PROVIDER_URL'] ?? '';
  if (given === '') throw new UsageError('--url is missing.', `For example: --url ${example}`);
  if (!URL.canParse(given) || !protocols.includes(new URL(given).protocol) || new URL(given).hostname === '') {
    throw new UsageError('--url is not the address of such a server.', `For example: --url ${example}`);
  }
  if (flags.url !== undefined && new URL(given).password !== '') {
    cli.warn('the password in --url can be read by everybody on this machine; TANCHO_PROVIDER_URL cannot.');
  }
  return given;
}

function appsHost({ appsHost: host }: ServerFlags): { appsHost?: string } {
  if (host === undefined) return {};
  if (/^(?:\[[0-9a-f:]+\]|[a-z0-9.-]+)(?::[0-9]{1,5})?$/i.test(host)) return { appsHost: host };
  throw new UsageError('--apps-host must be host or host:port.');
}
