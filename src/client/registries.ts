/** Logins at registries of images. */
import type { Requests } from './requests.ts';
import type * as shapes from './shapes.ts';

export interface RegistriesClient {
  /** Without passwords. */
  list(): Promise<readonly shapes.RegistryLogin[]>;
  /** Without a team for all of them. */
  login(host: string, login: shapes.NewRegistryLogin): Promise<void>;
  logout(host: string, team: string): Promise<void>;
}

export function registriesClient({ request }: Requests): RegistriesClient {
  return {
    list: () => request('registries.list'),
    login: (host, body) => request('registries.login', { params: { host }, body }),
    logout: (host, team) => request('registries.logout', { params: { host }, query: { team } }),
  };
}
