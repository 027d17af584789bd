/** Which addresses a unit reaches because something there is bound to its app. */
import type { Address } from '../../../domain/units/unit.ts';
import { atMost } from '../../../lib/deadline.ts';
import { ForbiddenAddress, UnknownHost, type AddressGuard } from '../../../lib/guarded/address-guard.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { Service } from '../../../lib/networks/networks.ts';

const LOOKUP_MS = 5_000;

/** Those that may be called at all, by the rules that hold for providers; the others are left out, which the log tells. */
export async function reachedServices(
  services: readonly Address[],
  { guard, logger }: { readonly guard: AddressGuard; readonly logger: Logger },
): Promise<Service[]> {
  const found = await Promise.all(
    services.map(async ({ host, port }): Promise<Service[]> => {
      const checking = guard.check(new URL(`http://${host}:${port}`)).catch((error: unknown) => {
        if (!(error instanceof ForbiddenAddress || error instanceof UnknownHost)) throw error;
        logger.warn({ host, port, why: error.message }, 'what is bound to an app is not opened to it');
        return [];
      });
      const addresses = (await atMost(LOOKUP_MS, checking)) ?? [];
      return addresses.filter(({ family }) => family === 4).map(({ address }) => ({ address, port }));
    }),
  );
  return found.flat();
}
