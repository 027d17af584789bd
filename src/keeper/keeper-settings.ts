/** What control sends to the keeper, by way of the edge. No secrets: it is an argument of a process. */
import { isAbsolute } from 'node:path';

interface KeeperSettings {
  /** TANCHO_HOME. */
  readonly home: string;
  readonly isolation: 'auto' | 'bubblewrap' | 'user' | 'plain';
  readonly network: 'auto' | 'own' | 'shared';
  /** CIDR networks that are open to apps although they are private. */
  readonly networkAllow: readonly string[];
  /** Hosts and networks of services that may be reached although they are private. */
  readonly providersAllow: readonly string[];
  readonly allowLoopback: boolean;
  /** Ports of this platform, never reached for users. */
  readonly ownPorts: readonly number[];
  /** PATH of control, for the tools of the sandbox. */
  readonly path: string;
  /** Between TERM and KILL. */
  readonly stopGraceMs: number;
}

export function keeperArgument(settings: KeeperSettings): string {
  return JSON.stringify(settings);
}

/** Throws an Error that names what is wrong. */
export function parseSettings(argument = '{}'): KeeperSettings {
  const given = JSON.parse(argument) as Record<string, unknown>;
  const demand = (name: keyof KeeperSettings, isRight: boolean): void => {
    if (!isRight) throw new Error(`${name} of the keeper is missing or wrong`);
  };
  demand('home', typeof given['home'] === 'string' && isAbsolute(given['home']));
  for (const name of ['isolation', 'network', 'path'] as const) demand(name, typeof given[name] === 'string');
  for (const name of ['networkAllow', 'providersAllow', 'ownPorts'] as const) demand(name, Array.isArray(given[name]));
  demand('allowLoopback', typeof given['allowLoopback'] === 'boolean');
  demand('stopGraceMs', typeof given['stopGraceMs'] === 'number');
  return given as unknown as KeeperSettings;
}
