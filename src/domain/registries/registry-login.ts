/** Who apps are at a registry of images: those of one team, or all. Rules only. */
import { PlatformError } from '../errors.ts';

export interface RegistryLogin {
  /** As images are named by it, such as `registry.example.com` or `localhost:5000`. */
  readonly host: string;
  /** Whose apps may pull with it; '' for those of every team. */
  readonly team: string;
  readonly user: string;
  /** Sealed at rest, and never shown. */
  readonly password: string;
  readonly by: string;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
}

/** What a registry is shown. */
export interface RegistryCredentials {
  readonly user: string;
  readonly password: string;
}

/** With its port where that is not the usual one. */
export const REGISTRY_HOST =
  /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/i;
const MAX_USER = 200;
/** Some registries give out whole tokens. */
const MAX_PASSWORD = 8_192;

/** A normal form. Throws `registry.invalid`. */
export function checkRegistryHost(host: unknown): string {
  const text = typeof host === 'string' ? host.trim().toLowerCase() : '';
  if (text.length <= MAX_USER && REGISTRY_HOST.test(text)) return text;
  throw new PlatformError('registry.invalid', `${JSON.stringify(text.slice(0, 100))} is not the host of a registry.`, {
    hint: 'Write it as images do: registry.example.com, or localhost:5000.',
  });
}

/** Throws `registry.invalid`. */
export function checkLogin(user: unknown, password: unknown): RegistryCredentials {
  const isGood =
    typeof user === 'string' &&
    typeof password === 'string' &&
    /^[\x21-\x39\x3b-\x7e]+$/.test(user) &&
    user.length <= MAX_USER &&
    password !== '' &&
    password.length <= MAX_PASSWORD &&
    !/\p{Cc}/u.test(password);
  if (isGood) return { user, password };
  throw new PlatformError(
    'registry.invalid',
    'A login has a user without spaces and colons, and a password of one line.',
    {
      hint: 'Send user and password as the registry gave them.',
    },
  );
}

/** By host; what a team has for itself comes before what all have. */
export function loginsOf(all: readonly RegistryLogin[], team: string): Map<string, RegistryCredentials> {
  const mine = all.filter((login) => login.team === '' || login.team === team);
  const sorted = [...mine].sort((a, b) => Number(a.team !== '') - Number(b.team !== ''));
  return new Map(sorted.map(({ host, user, password }) => [host, { user, password }]));
}
