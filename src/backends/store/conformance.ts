/** What every store must do, whatever it is made of. The cases are in testing/, by noun. */
import { describe, expect, test } from 'vitest';
import { accountCases } from './testing/accounts.ts';
import { appTokenCases } from './testing/app-tokens.ts';
import { appCases } from './testing/apps.ts';
import { auditLogCases } from './testing/audit-log.ts';
import type { StoreCases, StoreUnderTest } from './testing/case.ts';
import { certificateCases } from './testing/certificates.ts';
import { controlCases } from './testing/controls.ts';
import { deployCases } from './testing/deploys.ts';
import { drainCases } from './testing/drains.ts';
import { environmentCases } from './testing/environment.ts';
import { eventCases } from './testing/events.ts';
import { leaseCases } from './testing/leases.ts';
import { planCases } from './testing/plans.ts';
import { platformCases } from './testing/platforms.ts';
import { poolCases } from './testing/pools.ts';
import { quotaCases } from './testing/quotas.ts';
import { letterCases } from './testing/letters.ts';
import { registryCases } from './testing/registries.ts';
import { repositoryCases } from './testing/repositories.ts';
import { releaseCases } from './testing/releases.ts';
import { serviceCases } from './testing/services.ts';
import { teamCases } from './testing/teams.ts';
import { transactionCases } from './testing/transactions.ts';
import { unitCases } from './testing/units.ts';
import { userCases } from './testing/users.ts';
import { volumeCases } from './testing/volumes.ts';
import { webhookCases } from './testing/webhooks.ts';

const GROUPS: Readonly<Record<string, StoreCases>> = {
  apps: appCases,
  environment: environmentCases,
  releases: releaseCases,
  'units and rollouts': unitCases,
  deploys: deployCases,
  users: userCases,
  'API keys and resets': accountCases,
  'app tokens': appTokenCases,
  quotas: quotaCases,
  teams: teamCases,
  plans: planCases,
  platforms: platformCases,
  pools: poolCases,
  services: serviceCases,
  certificates: certificateCases,
  letters: letterCases,
  registries: registryCases,
  volumes: volumeCases,
  drains: drainCases,
  webhooks: webhookCases,
  'events and settings': eventCases,
  'the audit log': auditLogCases,
  leases: leaseCases,
  'several controls': controlCases,
  repositories: repositoryCases,
  transactions: transactionCases,
};

/** Raised with every case that is added, so that the suite cannot hollow out unnoticed. */
const CASES = 154;

/** `create` answers an empty store each time. */
export function storeConformance(name: string, create: () => Promise<StoreUnderTest>): void {
  let finished = 0;
  describe(`store conformance: ${name}`, () => {
    for (const [group, cases] of Object.entries(GROUPS)) {
      describe(group, () => {
        test.each(Object.entries(cases))('%s', async (_title, run) => {
          const under = await create();
          try {
            await run(under.store, under);
          } finally {
            finished += 1;
            await under.dispose();
          }
        });
      });
    }
    test(`has run all of its ${CASES} cases`, () => {
      expect(finished).toBe(CASES);
    });
  });
}
