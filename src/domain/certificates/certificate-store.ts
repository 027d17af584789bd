import type { AuthorityIdentity } from './authority-identity.ts';
import type { CertificateRecord, KeylessCertificate } from './certificate.ts';

/** What must be remembered about certificates. Readers answer null for what is missing. */
export interface CertificateReader {
  certificate(id: string): Promise<CertificateRecord | null>;
  /** Sorted by their names. Opens every key, which takes long where there are thousands. */
  certificates(): Promise<CertificateRecord[]>;
  /** Sorted by their names. */
  certificatesWithoutKeys(): Promise<KeylessCertificate[]>;
  identity(authority: string): Promise<AuthorityIdentity | null>;
}

export interface CertificateWriter {
  /** In place of the one with its id, if there is one. */
  putCertificate(certificate: CertificateRecord): Promise<void>;
  /** Missing: nothing to do. */
  deleteCertificate(id: string): Promise<void>;
  putIdentity(identity: AuthorityIdentity): Promise<void>;
}
