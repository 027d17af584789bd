/** Which addresses a unit reaches because something there is bound to its app. */
import type { Address } from '../../../domain/units/unit.ts';
import { inTime } from '../../../lib/deadline.ts';
import { ForbiddenAddress, UnknownHost, type AddressGuard } from '../../../lib/guarded/address-guard.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { ReachedService } from '../../../networks/networks.ts';

const LOOKUP_MS = 5_000;

/** Those that may be called at all, by the rules that hold for providers; the others are left out, which the log says. */
export async function reachedServices(
  services: readonly Address[],
  { guard, logger }: { readonly guard: AddressGuard; readonly logger: Logger },
): Promise<ReachedService[]> {
  const found = await Promise.all(
    services.map(async ({ host, port }): Promise<ReachedService[]> => {
      try {
        const checking = guard.check(new URL(`http://${host}:${port}`));
        const addresses = await inTime(LOOKUP_MS, checking, () => new UnknownHost(`${host} was not found in time.`));
        return addresses.filter(({ family }) => family === 4).map(({ address }) => ({ address, port }));
      } catch (error) {
        if (!(error instanceof ForbiddenAddress || error instanceof UnknownHost)) throw error;
        logger.warn({ host, port, why: error.message }, 'what is bound to an app is not opened to it');
        return [];
      }
    }),
  );
  return found.flat();
}
