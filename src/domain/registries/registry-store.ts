import type { RegistryLogin } from './registry-login.ts';

export interface RegistryReader {
  /** Sorted by host and team. Passwords come unsealed. */
  registryLogins(): Promise<RegistryLogin[]>;
}

export interface RegistryWriter {
  /** In place of the one that the team has there. */
  putRegistryLogin(login: RegistryLogin): Promise<void>;
  /** Whether there was one. */
  deleteRegistryLogin(host: string, team: string): Promise<boolean>;
}
