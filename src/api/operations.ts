/** Every operation of the API: adding one is adding an entry to a file of operations/. */
import type { Operation } from './operation.ts';
import { appChangeOperations } from './operations/app-changes.ts';
import { apiKeyOperations } from './operations/api-keys.ts';
import { appTokenOperations } from './operations/app-tokens.ts';
import { appCnameOperations } from './operations/app-cnames.ts';
import { appEnvOperations } from './operations/app-env.ts';
import { appLogOperations } from './operations/app-log.ts';
import { appRunOperations } from './operations/app-run.ts';
import { appStartStopOperations } from './operations/app-start-stop.ts';
import { appSwapOperations } from './operations/app-swap.ts';
import { appUnitOperations } from './operations/app-units.ts';
import { appOperations } from './operations/apps.ts';
import { deployOperations } from './operations/deploys.ts';
import { healerOperations } from './operations/healers.ts';
import { metadataOperations } from './operations/metadata.ts';
import { planOperations } from './operations/plans.ts';
import { platformOperations } from './operations/platforms.ts';
import { poolOperations } from './operations/pools.ts';
import { quotaOperations } from './operations/quotas.ts';
import { teamOperations } from './operations/teams.ts';
import { passwordOperations } from './operations/passwords.ts';
import { userOperations } from './operations/users.ts';

export const OPERATIONS: readonly Operation[] = [
  ...appOperations,
  ...appEnvOperations,
  ...appRunOperations,
  ...appLogOperations,
  ...appSwapOperations,
  ...appStartStopOperations,
  ...appUnitOperations,
  ...appCnameOperations,
  ...appChangeOperations,
  ...poolOperations,
  ...planOperations,
  ...platformOperations,
  ...userOperations,
  ...passwordOperations,
  ...apiKeyOperations,
  ...teamOperations,
  ...appTokenOperations,
  ...quotaOperations,
  ...healerOperations,
  ...deployOperations,
  ...metadataOperations,
];
