import type { AuthorityIdentity } from './authority-identity.ts';
import type { CertificateRecord, CertificateSummary, KeylessCertificate } from './certificate.ts';

/** What must be remembered about certificates. Readers answer null for what is missing. */
export interface CertificateReader {
  certificate(id: string): Promise<CertificateRecord | null>;
  /** Sorted by their names; with `ids` only these. Opens their keys, which takes long for thousands. */
  certificates(ids?: readonly string[]): Promise<CertificateRecord[]>;
  /** Sorted by their names. */
  certificateSummaries(): Promise<CertificateSummary[]>;
  /** Sorted by their names; with `ids` only these. */
  certificatesWithoutKeys(ids?: readonly string[]): Promise<KeylessCertificate[]>;
  identity(authority: string): Promise<AuthorityIdentity | null>;
}

export interface CertificateWriter {
  /** In place of the one with its id, if there is one. */
  putCertificate(certificate: CertificateRecord): Promise<void>;
  /** Missing: nothing to do. */
  deleteCertificate(id: string): Promise<void>;
  putIdentity(identity: AuthorityIdentity): Promise<void>;
}
