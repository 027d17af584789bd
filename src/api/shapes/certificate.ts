import type { AuthorityView, CertificateReport, CertificateView } from '../../domain/certificates/certificates.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

/** Times are ISO 8601 in UTC; what there is not is ''. */
const fields = Type.Object({
  id: Type.String(),
  names: Type.Array(Type.String()),
  app: Type.String(),
  source: Type.String({ description: 'authority or upload' }),
  state: Type.String({ description: 'waiting, ordering, issued, expired, failed or unused' }),
  presented: Type.Boolean(),
  cause: Type.String({ description: 'Why the last attempt failed: a code of docs/https.md' }),
  problem: Type.String(),
  nextStep: Type.String(),
  failures: Type.Integer(),
  nextAttemptAt: Type.String(),
  issuer: Type.String(),
  notBefore: Type.String(),
  notAfter: Type.String(),
  chain: Type.String({ description: 'PEM' }),
});

function toWire({ record, isPresented, isExpired, nextStep }: CertificateView) {
  const { id, names, app, source, state, cause, problem, failures, nextAttemptAt, issuer, notBefore, notAfter } =
    record;
  return {
    ...{ id, names: [...names], app, source, state: isExpired ? 'expired' : state, presented: isPresented },
    ...{ cause: cause ?? '', problem, nextStep, failures, nextAttemptAt: nextAttemptAt ?? '' },
    ...{ issuer, notBefore, notAfter, chain: record.chain },
  };
}

export const certificate = shape(fields, toWire);
export const certificates = shape(Type.Array(fields), (list: readonly CertificateView[]) => list.map(toWire));

export const addedCertificate = shape(
  Type.Object({ certificate: fields, notes: Type.Array(Type.String()) }),
  ({ view, notes }: { readonly view: CertificateView; readonly notes: readonly string[] }) => ({
    certificate: toWire(view),
    notes: [...notes],
  }),
);

export const certificateReport = shape(
  Type.Object({
    name: Type.String(),
    cause: Type.String({ description: "'' when nothing is wrong, as far as can be seen from here" }),
    problem: Type.String(),
    nextStep: Type.String(),
    certificates: Type.Array(fields, { description: 'The one for this name, or none' }),
  }),
  ({ name, cause, problem, nextStep, certificate: found }: CertificateReport) => ({
    ...{ name, cause: cause ?? '', problem, nextStep },
    certificates: found === null ? [] : [toWire(found)],
  }),
);

export const certificateAuthority = shape(
  Type.Object({
    name: Type.String(),
    local: Type.Boolean(),
    root: Type.String({ description: "PEM of what people have to trust; '' when everybody does" }),
    fingerprint: Type.String({ description: 'SHA-256 of the root, hexadecimal' }),
    dnsRecord: Type.String({ description: "TXT record that has to be at the domain's DNS; '' when none has to" }),
    dnsValue: Type.String(),
  }),
  ({ name, isLocal, root, fingerprint, persistRecord }: AuthorityView) => ({
    ...{ name, local: isLocal, root, fingerprint },
    dnsRecord: persistRecord?.record ?? '',
    dnsValue: persistRecord?.value ?? '',
  }),
);
