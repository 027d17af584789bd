/** The catalog of services (specification 4.2). */
import type { ServiceManifest } from '../../domain/services/manifest.ts';
import { FORM, isForm, type RawBody } from '../body.ts';
import { empty, json, type Operation, text } from '../operation.ts';
import { Type } from '../schema.ts';

const section = '4.2';
const params = Type.Object({ service: Type.String() });
const teamParams = Type.Object({ service: Type.String(), team: Type.String() });
const manifest = {
  mediaType: 'application/x-yaml',
  schema: Type.String({
    description: 'A mapping with id, endpoint: {production: <address>} and, if the provider asks for it, password.',
  }),
};
const denied = ['service.not_found', 'access.denied'] as const;
const manifestErrors = ['manifest.invalid', 'team.not_found', 'access.denied', 'input.invalid_json'] as const;

export const serviceOperations: readonly Operation[] = [
  json({
    id: 'services.list',
    section,
    summary: "List the services that the caller's teams own, with all their instances.",
    method: 'GET',
    path: '/services',
    access: 'user',
    shape: 'ownedServices',
    errors: [],
    handle: ({ useCases, caller }) => useCases.services.listOwned(caller),
  }),
  text({
    id: 'services.create',
    section,
    summary: 'Add a service to the catalog, from a YAML manifest.',
    method: 'POST',
    path: '/services',
    access: 'user',
    rawBody: manifest,
    errors: [...manifestErrors, 'service.name_taken', 'quota.exceeded'],
    async handle({ useCases, caller }, { body }) {
      await useCases.services.create(caller, await readManifest(body, ''));
      return 'success';
    },
  }),
  empty({
    id: 'services.update',
    section,
    summary: 'Replace what the manifest of a service says.',
    method: 'PUT',
    path: '/services',
    also: [{ method: 'PUT', path: '/services/:service' }],
    access: 'user',
    params: Type.Object({ service: Type.Optional(Type.String()) }),
    rawBody: manifest,
    errors: [...manifestErrors, 'service.not_found'],
    async handle({ useCases, caller }, { params: { service = '' }, body }) {
      if (service !== '') await useCases.services.demandOwned(caller, service);
      await useCases.services.update(caller, await readManifest(body, service));
    },
  }),
  empty({
    id: 'services.remove',
    section,
    summary: 'Remove a service that has no instances.',
    method: 'DELETE',
    path: '/services/:service',
    access: 'user',
    params,
    // Specification 4.2.
    status: 204,
    errors: [...denied, 'service.has_instances'],
    handle: ({ useCases, caller }, { params: { service } }) => useCases.services.remove(caller, service),
  }),
  json({
    id: 'services.info',
    section,
    summary: 'List the instances of a service that the caller has access to.',
    method: 'GET',
    path: '/services/:service',
    access: 'user',
    isSlow: true,
    params,
    shape: 'instances',
    errors: denied,
    handle: ({ useCases, caller }, { params: { service } }) => useCases.instances.ofService(caller, service),
  }),
  text({
    id: 'services.doc',
    section,
    summary: 'The documentation of a service, as it was stored.',
    method: 'GET',
    path: '/services/:service/doc',
    also: [{ method: 'GET', path: '/services/c/:service/doc' }],
    access: 'user',
    params,
    errors: denied,
    handle: ({ useCases, caller }, { params: { service } }) => useCases.services.doc(caller, service),
  }),
  empty({
    id: 'services.doc_set',
    section,
    summary: 'Store the documentation of a service.',
    method: 'PUT',
    path: '/services/:service/doc',
    access: 'user',
    params,
    rawBody: { mediaType: 'text/plain', schema: Type.String() },
    bodyLimitBytes: 4 * 1024 * 1024,
    errors: denied,
    handle: ({ useCases, caller }, { params: { service }, body }) =>
      useCases.services.setDoc(caller, service, readDoc(body)),
  }),
  empty({
    id: 'services.grant',
    section,
    summary: 'Give a team access to a restricted service.',
    method: 'PUT',
    path: '/services/:service/:team',
    also: [{ method: 'PUT', path: '/services/:service/team/:team' }],
    access: 'user',
    params: teamParams,
    errors: [...denied, 'team.not_found', 'team.access_exists'],
    handle: ({ useCases, caller }, { params: { service, team } }) => useCases.services.grant(caller, service, team),
  }),
  empty({
    id: 'services.revoke',
    section,
    summary: "Take a team's access to a service away.",
    method: 'DELETE',
    path: '/services/:service/:team',
    also: [{ method: 'DELETE', path: '/services/:service/team/:team' }],
    access: 'user',
    params: teamParams,
    errors: [...denied, 'team.not_found', 'team.access_missing'],
    handle: ({ useCases, caller }, { params: { service, team } }) => useCases.services.revoke(caller, service, team),
  }),
  json({
    id: 'services.plans',
    section: null,
    summary: 'The plans of a service, asked of its provider.',
    method: 'GET',
    path: '/services/:service/plans',
    access: 'user',
    isSlow: true,
    params,
    shape: 'servicePlans',
    errors: [...denied, 'provider.failed'],
    handle: ({ useCases, caller }, { params: { service } }) => useCases.services.plans(caller, service),
  }),
];

/** YAML, of which JSON is a part, or the form of clients from 1.0 on; `named` by the path counts when there is no id. */
async function readManifest(body: RawBody, named: string): Promise<ServiceManifest> {
  const { manifestOf, parseManifest } = await import('../../domain/services/manifest.ts');
  // No YAML mapping begins like a form.
  if (!isForm(body)) return parseManifest(body.text);
  const fields = Object.fromEntries(new URLSearchParams(body.text));
  return manifestOf({ ...fields, id: fields['id'] || named });
}

function readDoc(body: RawBody): string {
  const isDocForm = body.mediaType === FORM && body.text.startsWith('doc=');
  return isDocForm ? (new URLSearchParams(body.text.split('&', 1)[0]).get('doc') ?? '') : body.text;
}
