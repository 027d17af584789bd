import { PlatformError } from '../errors.ts';
import type { ServiceReader } from './service-store.ts';
import type { Instance, Service } from './service.ts';

export async function demandService(store: Pick<ServiceReader, 'service'>, name: string): Promise<Service> {
  const service = await store.service(name);
  if (service !== null) return service;
  throw new PlatformError('service.not_found', 'Service not found', {
    hint: 'List the services with "tancho service list".',
  });
}

/** One that is being removed is gone for everybody. `service` names the service that it must be of; '' for any. */
export async function demandInstance(
  store: Pick<ServiceReader, 'instance'>,
  name: string,
  service = '',
): Promise<Instance> {
  const instance = await store.instance(name);
  if (instance === null || instance.state === 'removing' || (service !== '' && instance.service !== service)) {
    throw new PlatformError('instance.not_found', 'service instance not found', {
      hint: 'List the instances with "tancho instance list".',
    });
  }
  return instance;
}
