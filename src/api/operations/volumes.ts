/** Volumes of an app: directories that stay when its units go. Beyond the specification. */
import { Type } from '../schema.ts';
import { PlatformError } from '../../domain/errors.ts';
import { bytesOf } from '../../lib/byte-size.ts';
import { empty, json, type Operation, progress } from '../operation.ts';
import { appParams, optionalText } from './fields.ts';

const params = Type.Object({ app: Type.String(), volume: Type.String() });
const denied = ['app.not_found', 'access.denied'] as const;
const one = [...denied, 'volume.not_found'] as const;
const changes = [...one, 'app.busy'] as const;
const switches = [...changes, 'volume.one_writer', 'unit.failed', 'quota.exceeded'] as const;
/** Bytes, or a text with a unit such as `512M`. */
const size = Type.Optional(Type.Unsafe<string | number | null>({ type: ['string', 'integer', 'null'] }));
const single = Type.Optional(Type.Boolean());

export const volumeOperations: readonly Operation[] = [
  json({
    id: 'volumes.list',
    section: null,
    summary: 'List the volumes of an app, with what they hold.',
    method: 'GET',
    path: '/apps/:app/volumes',
    access: 'user',
    isSlow: true,
    params: appParams,
    shape: 'volumes',
    errors: denied,
    handle: ({ useCases, caller }, { params: { app } }) => useCases.volumes.list(caller, app),
  }),
  json({
    id: 'volumes.create',
    section: null,
    summary: 'Make a volume for an app; units see it once it is mounted.',
    method: 'POST',
    path: '/apps/:app/volumes',
    access: 'user',
    params: appParams,
    body: Type.Object({ name: optionalText, size, single }),
    shape: 'volume',
    errors: [...denied, 'app.busy', 'volume.invalid', 'volume.name_taken', 'quota.exceeded', 'input.invalid_json'],
    handle: ({ useCases, caller }, { params: { app }, body }) =>
      useCases.volumes.create(caller, app, { name: body.name, ...readChange(body) }),
  }),
  json({
    id: 'volumes.info',
    section: null,
    summary: 'Show one volume, with what it holds.',
    method: 'GET',
    path: '/apps/:app/volumes/:volume',
    access: 'user',
    isSlow: true,
    params,
    shape: 'volume',
    errors: one,
    handle: ({ useCases, caller }, { params: { app, volume } }) => useCases.volumes.info(caller, app, volume),
  }),
  json({
    id: 'volumes.update',
    section: null,
    summary: 'Change how much a volume is to hold, and whether several units may have it.',
    method: 'PUT',
    path: '/apps/:app/volumes/:volume',
    access: 'user',
    params,
    body: Type.Object({ size, single }),
    shape: 'volume',
    errors: [...changes, 'volume.invalid', 'volume.one_writer', 'input.invalid_json'],
    handle: ({ useCases, caller }, { params: { app, volume }, body }) =>
      useCases.volumes.update(caller, app, volume, readChange(body)),
  }),
  empty({
    id: 'volumes.remove',
    section: null,
    summary: 'Remove a volume that is not mounted, with everything in it.',
    method: 'DELETE',
    path: '/apps/:app/volumes/:volume',
    access: 'user',
    params,
    errors: [...changes, 'volume.mounted'],
    handle: ({ useCases, caller }, { params: { app, volume } }) => useCases.volumes.remove(caller, app, volume),
  }),
  progress({
    id: 'volumes.mount',
    section: null,
    summary: 'Let the units of an app see a volume at a path; those that run are replaced.',
    method: 'PUT',
    path: '/apps/:app/volumes/:volume/mount',
    access: 'user',
    params,
    body: Type.Object({ path: optionalText, processes: Type.Optional(Type.Array(Type.String())) }),
    errors: [...switches, 'volume.invalid', 'process.not_found', 'unsupported', 'input.invalid_json'],
    handle: ({ useCases, caller }, { params: { app, volume }, body }, say) =>
      useCases.volumes.mount(caller, app, volume, { path: body.path, processes: body.processes ?? [] }, say),
  }),
  progress({
    id: 'volumes.unmount',
    section: null,
    summary: 'Hide a volume from the units of its app; what it holds stays.',
    method: 'DELETE',
    path: '/apps/:app/volumes/:volume/mount',
    access: 'user',
    params,
    errors: [...switches, 'volume.mounted', 'volume.not_mounted'],
    handle: ({ useCases, caller }, { params: { app, volume } }, say) =>
      useCases.volumes.unmount(caller, app, volume, say),
  }),
];

function readChange(body: { size?: string | number | null | undefined; single?: boolean | undefined }) {
  return {
    ...(body.size !== undefined && body.size !== null && { maxBytes: readSize(body.size) }),
    ...(body.single !== undefined && { isSingle: body.single }),
  };
}

function readSize(given: string | number): number {
  const bytes = typeof given === 'number' ? given : bytesOf(given);
  if (bytes !== null) return bytes;
  throw new PlatformError('volume.invalid', 'That is no size of a volume.', {
    hint: 'Send a number of bytes, or one with a unit: "512M", "10G"; 0 for no limit.',
  });
}
