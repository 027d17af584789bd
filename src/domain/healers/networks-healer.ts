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
    description: 'restores the networks of units where somebody else has changed them',

    async find() {
      const problem = await provisioner.networkFault();
      return problem === null ? [] : [{ target: 'networks', app: null, problem, graceMs: 0 }];
    },

    async heal({ problem }) {
      logger.warn({ problem }, 'the networks of units are made anew');
      await provisioner.mendNetworks();
      return 'The networks of units are as they were made.';
    },
  };
}
