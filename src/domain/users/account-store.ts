import type { AppTokenReader } from '../app-tokens/app-token-store.ts';
import type { AppReader } from '../apps/app-store.ts';
import type { RegistryReader, RegistryWriter } from '../registries/registry-store.ts';
import type { ServiceReader } from '../services/service-store.ts';
import type { TeamReader, TeamWriter } from '../teams/team-store.ts';
import type { WebhookWriter } from '../webhooks/webhook-store.ts';
import type { UserReader, UserWriter } from './user-store.ts';

/** The part of the Store that accounts and teams need; every Store is one. */
interface AccountReader
  extends
    UserReader,
    TeamReader,
    Pick<AppTokenReader, 'appToken'>,
    Pick<AppReader, 'apps'>,
    Pick<ServiceReader, 'services' | 'instances'> {}

export interface AccountWriter
  extends
    AccountReader,
    UserWriter,
    TeamWriter,
    RegistryReader,
    RegistryWriter,
    Pick<WebhookWriter, 'deleteWebhooksOf'> {}

export interface AccountStore extends AccountReader {
  /** See Store.transact. */
  transact<T>(work: (tx: AccountWriter) => Promise<T>): Promise<T>;
}
