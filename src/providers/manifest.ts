/** The service manifest that makes the platform use this provider: what `tancho service create` takes. */
import { stringify } from 'yaml';
import type { Credentials } from './request.ts';

export interface ManifestParts extends Credentials {
  /** Name of the service in the catalog. */
  readonly service: string;
  readonly url: string;
}

export function manifestText({ service, username, password, url }: ManifestParts): string {
  return stringify({ id: service, username, password, endpoint: { production: url } });
}
