/**
 * How many of something one user, team or app may have, whatever their quotas are: far more than people need, so that nothing grows without
 * an end. Judged in the transaction that adds one.
 */
import { PlatformError } from './errors.ts';

export const MOST = {
  sshKeysOfUser: 100,
  /** A login beyond them ends the oldest. */
  sessionsOfUser: 1_000,
  teamsOfUser: 200,
  tokensOfApp: 100,
  /** That were uploaded for it. */
  certificatesOfApp: 20,
  instancesOfTeam: 500,
  servicesOfTeam: 100,
  registryLoginsOfTeam: 100,
} as const;

/** `inUse`: without the one that is to be added. Throws `quota.exceeded`. */
export function demandPlace(
  inUse: number,
  most: number,
  what: { readonly plural: string; readonly hint: string },
): void {
  if (inUse < most) return;
  throw new PlatformError('quota.exceeded', `At most ${most} ${what.plural}, and there are so many already.`, {
    hint: what.hint,
    details: { available: 0, requested: 1 },
  });
}
