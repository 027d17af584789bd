/**
 * The control state in SQL: SQLite embedded in control, or PostgreSQL somewhere else. Owns the schema and what is
 * sealed in it; knows no rule of the domain beyond what the contract says.
 */
import path from 'node:path';
import type { Store, StoreReader, StoreWriter } from '../../../domain/store.ts';
import { copyIntoSet } from '../../../lib/backup-sets.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { Sealer } from '../../../lib/seal.ts';
import { openDatabase, withoutSecrets } from '../../../sql/database.ts';
import type { DatabaseOptions } from '../../../sql/database.ts';
import { migrate } from '../../../sql/migrate.ts';
import { withTranslatedErrors } from '../../../lib/translated-errors.ts';
import { apiKeyReader, apiKeyWriter } from './api-keys.ts';
import { appTokenReader, appTokenWriter } from './app-tokens.ts';
import { appReader, appWriter, knownApps } from './apps.ts';
import { auditLogReader, auditLogWriter } from './audit-log.ts';
import { bindingReader, bindingWriter } from './bindings.ts';
import { certificateReader, certificateWriter } from './certificates.ts';
import { noteChanges } from './changed-groups.ts';
import { controlReader, controlWriter } from './controls.ts';
import { deployReader, deployWriter } from './deploys.ts';
import { envReader, envWriter } from './env.ts';
import { drainReader, drainWriter } from './drains.ts';
import { eventReader, eventWriter } from './events.ts';
import { translated } from './faults.ts';
import { instanceReader, instanceWriter } from './instances.ts';
import { leases, leaseWriter } from './leases.ts';
import { migrations } from './migrations/index.ts';
import { planReader, planWriter } from './plans.ts';
import { platformReader, platformWriter } from './platforms.ts';
import { poolReader, poolWriter } from './pools.ts';
import { passwordResetWriter } from './password-resets.ts';
import { quotaReader, quotaWriter } from './quotas.ts';
import { letterReader, letterWriter } from './letters.ts';
import { registryReader, registryWriter } from './registry-logins.ts';
import { repositoryReader, repositoryWriter } from './repositories.ts';
import { releaseReader, releaseWriter } from './releases.ts';
import { rolloutReader, rolloutWriter } from './rollouts.ts';
import type { Scope, Tables } from './schema.ts';
import { checkSeal } from './seal-check.ts';
import { serviceReader, serviceWriter } from './services.ts';
import { sessionReader, sessionWriter } from './sessions.ts';
import { settingReader, settingWriter } from './settings.ts';
import { sshKeyReader, sshKeyWriter } from './ssh-keys.ts';
import { teamReader, teamWriter } from './teams.ts';
import { transactions } from './transaction.ts';
import { knownUnits, unitReader, unitWriter } from './units.ts';
import { userReader, userWriter } from './users.ts';
import { bytes, product, versions } from './version.ts';
import { volumeReader, volumeWriter } from './volumes.ts';
import { webhookReader, webhookWriter } from './webhooks.ts';

export type SqlStoreOptions =
  | {
      readonly kind: 'sqlite';
      readonly file: string;
      /** Folder for a copy of the file, made before an upgrade changes its schema; absent: none is made. */
      readonly backups?: string;
    }
  | { readonly kind: 'postgres'; readonly url: string };

interface SqlStoreDeps {
  readonly sealer: Sealer;
  readonly logger: Logger;
}

const POOL_SIZE = 16;
/** Leases are renewed by connections that nothing else has, and that are given up before a lease ends: others may all wait for a network that is gone. */
const RENEWING = { poolSize: 3, patienceMs: 3_000 };

/**
 * Opens the database, creating and migrating it as needed. Throws PlatformError `unavailable` when it cannot be
 * reached, was made by a newer version, or was sealed with another key.
 */
export async function createSqlStore(options: SqlStoreOptions, deps: SqlStoreDeps): Promise<Store> {
  const where = options.kind === 'sqlite' ? options.file : withoutSecrets(options.url);
  try {
    const database = await openDatabase<Tables>(databaseOptions(options), deps.logger);
    const renewing =
      options.kind === 'sqlite' ? database : await openDatabase<Tables>({ ...options, ...RENEWING }, deps.logger);
    const close = async (): Promise<void> => void (await Promise.all([database.close(), renewing.close()]));
    try {
      await migrate(database, migrations(database.kind), () => backUp(options));
      await noteChanges(database);
      const known = { apps: knownApps(), units: knownUnits() };
      const scope: Scope = { db: database.db, kind: database.kind, sealer: deps.sealer, known };
      await checkSeal(scope, where);
      const transact = transactions(scope);
      const version = versions(scope);
      const store: Store = {
        name: `sql (${database.kind})`,
        product: () => product(scope),
        bytes: () => bytes(scope),
        ...reader(scope),
        ...leases(scope, renewing.db),
        transact: (work) =>
          transact((inside) => work({ ...reader(inside), ...writer(inside) })).finally(version.changed),
        version: version.current,
        close,
      };
      return withTranslatedErrors(store, (thrown) => translated(thrown, where));
    } catch (error) {
      await close();
      throw error;
    }
  } catch (error) {
    throw translated(error, where);
  }
}

/** PostgreSQL has its own ways, and its own operators. */
async function backUp(options: SqlStoreOptions): Promise<void> {
  if (options.kind !== 'sqlite' || options.backups === undefined) return;
  await copyIntoSet(options.backups, options.file, path.basename(options.file));
}

function databaseOptions(options: SqlStoreOptions): DatabaseOptions {
  return options.kind === 'sqlite' ? { ...options, synchronous: 'FULL' } : { ...options, poolSize: POOL_SIZE };
}

function reader(scope: Scope): StoreReader {
  return {
    ...appReader(scope),
    ...envReader(scope),
    ...releaseReader(scope),
    ...unitReader(scope),
    ...rolloutReader(scope),
    ...deployReader(scope),
    ...controlReader(scope),
    ...repositoryReader(scope),
    ...userReader(scope),
    ...sessionReader(scope),
    ...sshKeyReader(scope),
    ...apiKeyReader(scope),
    ...appTokenReader(scope),
    ...quotaReader(scope),
    ...teamReader(scope),
    ...planReader(scope),
    ...platformReader(scope),
    ...poolReader(scope),
    ...serviceReader(scope),
    ...instanceReader(scope),
    ...bindingReader(scope),
    ...letterReader(scope),
    ...registryReader(scope),
    ...volumeReader(scope),
    ...certificateReader(scope),
    ...drainReader(scope),
    ...webhookReader(scope),
    ...eventReader(scope),
    ...auditLogReader(scope),
    ...settingReader(scope),
  };
}

function writer(scope: Scope): Omit<StoreWriter, keyof StoreReader> {
  return {
    ...appWriter(scope),
    ...envWriter(scope),
    ...releaseWriter(scope),
    ...unitWriter(scope),
    ...rolloutWriter(scope),
    ...deployWriter(scope),
    ...controlWriter(scope),
    ...repositoryWriter(scope),
    ...userWriter(scope),
    ...sessionWriter(scope),
    ...sshKeyWriter(scope),
    ...apiKeyWriter(scope),
    ...passwordResetWriter(scope),
    ...appTokenWriter(scope),
    ...quotaWriter(scope),
    ...teamWriter(scope),
    ...planWriter(scope),
    ...platformWriter(scope),
    ...poolWriter(scope),
    ...serviceWriter(scope),
    ...instanceWriter(scope),
    ...bindingWriter(scope),
    ...letterWriter(scope),
    ...registryWriter(scope),
    ...volumeWriter(scope),
    ...certificateWriter(scope),
    ...drainWriter(scope),
    ...webhookWriter(scope),
    ...eventWriter(scope),
    ...auditLogWriter(scope),
    ...settingWriter(scope),
    ...leaseWriter(scope),
  };
}
