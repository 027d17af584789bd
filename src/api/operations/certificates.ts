/** Certificates of host names; beyond the specification. */
import { empty, json, type Operation } from '../operation.ts';
import { Type } from '../schema.ts';
import { optionalText } from './fields.ts';

const params = Type.Object({ name: Type.String({ description: 'Host name, or id of a certificate' }) });

export const certificateOperations: readonly Operation[] = [
  json({
    id: 'certificates.list',
    section: null,
    summary: 'List the certificates of the apps you may see, with their state; admins see all.',
    method: 'GET',
    path: '/certificates',
    access: 'user',
    shape: 'certificates',
    errors: [],
    handle: ({ useCases, caller }) => useCases.certificates.list(caller),
  }),
  json({
    id: 'certificates.authority',
    section: null,
    summary: 'Show who issues certificates here, and what people or name servers have to know of it.',
    method: 'GET',
    path: '/certificate-authority',
    access: 'user',
    shape: 'certificateAuthority',
    errors: [],
    handle: ({ useCases, caller }) => useCases.certificates.authority(caller),
  }),
  json({
    id: 'certificates.add',
    section: null,
    summary:
      'Upload a certificate (PEM, with those that it was issued by) and its key: for the names of an app, or by admins for every name it has.',
    method: 'POST',
    path: '/certificates',
    access: 'user',
    body: Type.Object({ chain: optionalText, key: optionalText, app: optionalText }),
    shape: 'addedCertificate',
    errors: ['certificate.invalid', 'app.not_found', 'access.denied', 'input.invalid_json'],
    handle: ({ useCases, caller }, { body }) =>
      useCases.certificates.add(caller, { chain: body.chain, key: body.key, app: body.app ?? '' }),
  }),
  json({
    id: 'certificates.why',
    section: null,
    summary: 'Say what is wrong with the certificate of a host name, looking at the name now.',
    method: 'GET',
    path: '/certificates/:name',
    access: 'user',
    isSlow: true,
    params,
    shape: 'certificateReport',
    errors: ['certificate.not_found', 'access.denied'],
    handle: ({ useCases, caller }, { params: { name } }) => useCases.certificates.why(caller, name),
  }),
  json({
    id: 'certificates.renew',
    section: null,
    summary: 'Ask for a certificate now, and say what came of it.',
    method: 'POST',
    path: '/certificates/:name/renew',
    access: 'user',
    params,
    shape: 'certificate',
    errors: ['certificate.not_found', 'certificate.invalid', 'access.denied'],
    handle: ({ useCases, caller }, { params: { name } }) => useCases.certificates.renew(caller, name),
  }),
  empty({
    id: 'certificates.remove',
    section: null,
    summary: 'Remove an uploaded certificate.',
    method: 'DELETE',
    path: '/certificates/:name',
    access: 'user',
    params,
    errors: ['certificate.not_found', 'certificate.invalid', 'access.denied'],
    handle: ({ useCases, caller }, { params: { name } }) => useCases.certificates.remove(caller, name),
  }),
];
