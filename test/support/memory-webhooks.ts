/** Webhooks for tests of the API alone: there are none, and none can be made. */
import { demand } from '../../src/domain/access.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import { webhookNotFound } from '../../src/domain/webhooks/webhook.ts';
import type { Webhooks } from '../../src/domain/webhooks/webhooks.ts';
import type { Memory } from './memory-state.ts';

export function webhooksIn(memory: Memory): Webhooks {
  const none = async (_caller: unknown, id: string): Promise<never> => {
    throw webhookNotFound(id);
  };
  return {
    async list(caller) {
      demand(caller, 'event.list');
      return [];
    },
    async add(caller, { scope, owner }) {
      if (scope === 'app') memory.allowed(caller, 'webhook.add', owner);
      else demand(caller, 'webhook.add', scope === 'user' ? { email: owner } : {});
      throw new PlatformError('webhook.invalid', 'There are none in memory.');
    },
    info: none,
    remove: none,
    test: none,
    deliveries: none,
    resend: none,
  };
}
