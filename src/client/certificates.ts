import type { Requests } from './requests.ts';
import type * as shapes from './shapes.ts';

export interface CertificatesClient {
  /** Of the apps you may see; admins see all. */
  list(): Promise<readonly shapes.Certificate[]>;
  /** What is wrong with the certificate of a host name, looked at now. */
  why(name: string): Promise<shapes.CertificateReport>;
  /** Tries now, and answers what came of it. */
  renew(name: string): Promise<shapes.Certificate>;
  /** PEM; without an app for all names of the certificate, which is for admins. */
  add(certificate: shapes.NewCertificate): Promise<shapes.AddedCertificate>;
  /** Only an uploaded one. */
  remove(name: string): Promise<void>;
  authority(): Promise<shapes.CertificateAuthority>;
}

export function certificatesClient({ request }: Requests): CertificatesClient {
  return {
    list: () => request('certificates.list'),
    why: (name) => request('certificates.why', { params: { name } }),
    renew: (name) => request('certificates.renew', { params: { name } }),
    add: (certificate) => request('certificates.add', { body: certificate }),
    remove: (name) => request('certificates.remove', { params: { name } }),
    authority: () => request('certificates.authority'),
  };
}
