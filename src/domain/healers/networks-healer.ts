/** What keeps the networks of units apart on the machine, where somebody else has changed it: an operator who empties a packet filter. */
import type { Logger } from '../../lib/logger.ts';
import type { Provisioner } from '../units/provisioner.ts';
import type { Healer } from './healer.ts';

export interface NetworksHealerDeps {
  readonly provisioner: Pick<Provisioner, 'networkFault' | 'mendNetworks'>;
  readonly logger: Logger;
}

export function createNetworksHealer({ provisioner, logger }: NetworksHealerDeps): Healer {
  return {
    name: 'networks',
    description: 'restores the packet filter of units where somebody else has changed it',

    async find() {
      const problem = await provisioner.networkFault();
      return problem === null ? [] : [{ target: 'networks', app: null, problem, graceMs: 0 }];
    },

    async heal({ problem }) {
      logger.warn({ problem }, 'the packet filter of units is made anew');
      await provisioner.mendNetworks();
      return 'The packet filter of units is as it was made.';
    },
  };
}
