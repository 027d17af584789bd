/**
 * Contract: the control state. Implementations live in backends/store/<name> and pass backends/store/conformance.ts.
 * Writers exist only inside transact(); what transact() resolved survives a crash of the machine.
 */
import type { AppTokenReader, AppTokenWriter } from './app-tokens/app-token-store.ts';
import type { AppReader, AppWriter } from './apps/app-store.ts';
import type { CertificateReader, CertificateWriter } from './certificates/certificate-store.ts';
import type { ControlReader, ControlWriter } from './controls/control-store.ts';
import type { DrainReader, DrainWriter } from './drains/drain-store.ts';
import type { DeployReader, DeployWriter } from './deploys/deploy-store.ts';
import type { EventReader, EventWriter } from './audit/events.ts';
import type { AuditLogReader, AuditLogWriter } from './audit/log-rows.ts';
import type { PlanReader, PlanWriter } from './plans/plan-store.ts';
import type { PlatformReader, PlatformWriter } from './platforms/platform-store.ts';
import type { PoolReader, PoolWriter } from './pools/pool-store.ts';
import type { QuotaReader, QuotaWriter } from './quotas/quota-store.ts';
import type { ServiceReader, ServiceWriter } from './services/service-store.ts';
import type { TeamReader, TeamWriter } from './teams/team-store.ts';
import type { RegistryReader, RegistryWriter } from './registries/registry-store.ts';
import type { RepositoryReader, RepositoryWriter } from './deploys/repository-store.ts';
import type { LetterReader, LetterWriter } from './users/letter-store.ts';
import type { UserReader, UserWriter } from './users/user-store.ts';
import type { VolumeReader, VolumeWriter } from './volumes/volume-store.ts';
import type { WebhookReader, WebhookWriter } from './webhooks/webhook-store.ts';

export interface SettingReader {
  setting(key: string): Promise<string | null>;
}

export interface SettingWriter {
  setSetting(key: string, value: string): Promise<void>;
}

export interface StoreReader
  extends
    AppReader,
    AppTokenReader,
    CertificateReader,
    ControlReader,
    DeployReader,
    DrainReader,
    UserReader,
    TeamReader,
    PlanReader,
    PlatformReader,
    PoolReader,
    QuotaReader,
    ServiceReader,
    RegistryReader,
    RepositoryReader,
    LetterReader,
    VolumeReader,
    WebhookReader,
    EventReader,
    AuditLogReader,
    SettingReader {}

export interface Lease {
  readonly key: string;
  readonly token: number;
}

interface LeaseState {
  readonly key: string;
  readonly owner: string;
  readonly isExpired: boolean;
}

export interface LeaseWriter {
  /** Those of the leases that somebody else has, or nobody; of the others nobody takes any before this transaction has ended. */
  lostLeases(leases: readonly Lease[]): Promise<Lease[]>;
}

export interface StoreWriter
  extends
    StoreReader,
    AppWriter,
    AppTokenWriter,
    CertificateWriter,
    ControlWriter,
    DeployWriter,
    DrainWriter,
    UserWriter,
    TeamWriter,
    PlanWriter,
    PlatformWriter,
    PoolWriter,
    QuotaWriter,
    ServiceWriter,
    RegistryWriter,
    RepositoryWriter,
    LetterWriter,
    VolumeWriter,
    WebhookWriter,
    EventWriter,
    AuditLogWriter,
    SettingWriter,
    LeaseWriter {}

export interface Store extends StoreReader {
  readonly name: string;
  /** What keeps it, and its version: SQLite 3.50.4. */
  product(): Promise<{ readonly name: string; readonly version: string }>;
  /** What the whole database takes where it lies; where the log is in the same one, with it. */
  bytes(): Promise<number>;
  /**
   * Runs `work` in one transaction: all of it or nothing. `work` must await nothing but the writer it is given,
   * and may be run again when the database asks for it, so it must have no effect outside.
   */
  transact<T>(work: (tx: StoreWriter) => Promise<T>): Promise<T>;
  /**
   * Of everything that transactions have committed, here and elsewhere: two equal texts mean that nothing was committed in
   * between, so what was read after the first is still true at the second.
   */
  version(): Promise<string>;
  /**
   * Takes a lease: its token, or null while another owner has it. An owner has its own at once, with another token. Each token is larger
   * than all that were given before, of whatever key. A lease that nobody renews for `ttlMs` is free, by the clock of the database.
   */
  lease(key: string, owner: string, ttlMs: number): Promise<number | null>;
  /** Renews a lease that nobody else has taken since, even late; false when somebody has, or it was given back. */
  renewLease(lease: Lease, ttlMs: number): Promise<boolean>;
  /** Gives a lease back; not held any more: nothing to do. */
  releaseLease(lease: Lease): Promise<void>;
  /** Gives back every lease of an owner. */
  releaseLeases(owner: string): Promise<void>;
  /** Those whose keys begin so, sorted by key. */
  leases(prefix: string): Promise<LeaseState[]>;
  close(): Promise<void>;
}
