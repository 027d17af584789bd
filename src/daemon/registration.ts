import type { Config } from '../config/config.ts';
import { isLocalName, isLoopback } from './addresses.ts';

/** `auto` is for a machine that somebody tries the platform on: whatever lets others reach it closes registration. */
export function registrationOf(
  config: Pick<Config, 'apiListen' | 'domain' | 'proxyProtocol' | 'registration' | 'trustedProxies'>,
): { registrationOpen: boolean; registrationFromHereOnly: boolean } {
  const isAuto = config.registration === 'auto';
  const isLocal = isLoopback(config.apiListen.host) && isLocalName(config.domain);
  const isBehindProxy = config.trustedProxies.length > 0 || config.proxyProtocol;
  return {
    registrationOpen: isAuto ? isLocal && !isBehindProxy : config.registration === 'open',
    registrationFromHereOnly: isAuto,
  };
}
