import type { AuthorityIdentity } from '../../../domain/certificates/authority-identity.ts';
import type { CertificateReader, CertificateWriter } from '../../../domain/certificates/certificate-store.ts';
import {
  CERTIFICATE_STATES,
  type CertificateRecord,
  type CertificateState,
  type CertificateSummary,
  type KeylessCertificate,
} from '../../../domain/certificates/certificate.ts';
import { CAUSES, type Cause } from '../../../domain/certificates/cause.ts';
import { listOf } from '../../../sql/list-of.ts';
import type { CertificatesTable, Scope } from './schema.ts';

const SUMMARY = [
  'id',
  'names_json',
  'source',
  'app',
  'state',
  'cause',
  'problem',
  'failures',
  'next_attempt_at',
  'issuer',
  'not_before',
  'not_after',
  'ask_again_at',
  'authority',
  'order_url',
  'created_at',
] as const;
const KEYLESS = [...SUMMARY, 'chain'] as const;

export function certificateReader({ db, sealer, kind }: Scope): CertificateReader {
  const summary = (row: Pick<CertificatesTable, (typeof SUMMARY)[number]>): CertificateSummary => ({
    id: row.id,
    names: JSON.parse(row.names_json) as string[],
    source: row.source === 'upload' ? 'upload' : 'authority',
    app: row.app,
    state: stateOf(row.state),
    cause: causeOf(row.cause),
    problem: row.problem,
    failures: row.failures,
    nextAttemptAt: row.next_attempt_at,
    issuer: row.issuer,
    notBefore: row.not_before,
    notAfter: row.not_after,
    askAgainAt: row.ask_again_at,
    authority: row.authority,
    orderUrl: row.order_url,
    createdAt: row.created_at,
  });
  const keyless = (row: Pick<CertificatesTable, (typeof KEYLESS)[number]>): KeylessCertificate => ({
    ...summary(row),
    chain: row.chain,
  });
  const fromRow = (row: CertificatesTable): CertificateRecord => ({
    ...keyless(row),
    key: opened(row.sealed_key, 'key', row.id),
    pendingKey: opened(row.sealed_pending_key, 'pending', row.id),
  });
  const opened = (sealed: string, what: string, id: string): string =>
    sealed === '' ? '' : sealer.open(sealed, contextOf(what, id));
  return {
    async certificate(id) {
      const row = await db.selectFrom('certificates').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },
    async certificates(ids) {
      const all = db.selectFrom('certificates').selectAll().orderBy('names_json').orderBy('id');
      const rows = await (ids === undefined ? all : all.where('id', 'in', listOf(kind, ids))).execute();
      return rows.map(fromRow);
    },
    async certificateSummaries() {
      const rows = await db.selectFrom('certificates').select(SUMMARY).orderBy('names_json').orderBy('id').execute();
      return rows.map(summary);
    },
    async certificatesWithoutKeys(ids) {
      const all = db.selectFrom('certificates').select(KEYLESS).orderBy('names_json').orderBy('id');
      const rows = await (ids === undefined ? all : all.where('id', 'in', listOf(kind, ids))).execute();
      return rows.map(keyless);
    },
    async identity(authority) {
      const found = db.selectFrom('authority_identities').selectAll().where('authority', '=', authority);
      const row = await found.executeTakeFirst();
      if (row === undefined) return null;
      return { authority, account: row.account, key: sealer.open(row.sealed_key, contextOf('authority', authority)) };
    },
  };
}

export function certificateWriter({ db, sealer }: Scope): CertificateWriter {
  const sealed = (text: string, what: string, id: string): string =>
    text === '' ? '' : sealer.seal(text, contextOf(what, id));
  return {
    async putCertificate(record) {
      const row: CertificatesTable = {
        id: record.id,
        names_json: JSON.stringify(record.names),
        source: record.source,
        app: record.app,
        state: record.state,
        cause: record.cause,
        problem: record.problem,
        failures: record.failures,
        next_attempt_at: record.nextAttemptAt,
        chain: record.chain,
        sealed_key: sealed(record.key, 'key', record.id),
        issuer: record.issuer,
        not_before: record.notBefore,
        not_after: record.notAfter,
        ask_again_at: record.askAgainAt,
        authority: record.authority,
        order_url: record.orderUrl,
        sealed_pending_key: sealed(record.pendingKey, 'pending', record.id),
        created_at: record.createdAt,
      };
      const { id: _id, ...change } = row;
      const insert = db.insertInto('certificates').values(row);
      await insert.onConflict((conflict) => conflict.column('id').doUpdateSet(change)).execute();
    },
    async deleteCertificate(id) {
      await db.deleteFrom('certificates').where('id', '=', id).execute();
    },
    async putIdentity({ authority, key, account }: AuthorityIdentity) {
      const change = { account, sealed_key: sealed(key, 'authority', authority) };
      const insert = db.insertInto('authority_identities').values({ authority, ...change });
      await insert.onConflict((conflict) => conflict.column('authority').doUpdateSet(change)).execute();
    },
  };
}

function contextOf(what: string, id: string): string {
  return `certificate-${what}:${id}`;
}

function stateOf(text: string): CertificateState {
  return CERTIFICATE_STATES.find((state) => state === text) ?? 'waiting';
}

function causeOf(text: string | null): Cause | null {
  return CAUSES.find((cause) => cause === text) ?? null;
}
