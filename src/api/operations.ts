/** Every operation of the API: adding one is adding an entry to a file of operations/. */
import type { Operation } from './operation.ts';
import { apiKeyOperations } from './operations/api-keys.ts';
import { appTokenOperations } from './operations/app-tokens.ts';
import { appEnvOperations } from './operations/app-env.ts';
import { appLogOperations } from './operations/app-log.ts';
import { appRunOperations } from './operations/app-run.ts';
import { appOperations } from './operations/apps.ts';
import { deployOperations } from './operations/deploys.ts';
import { metadataOperations } from './operations/metadata.ts';
import { platformOperations } from './operations/platforms.ts';
import { quotaOperations } from './operations/quotas.ts';
import { teamOperations } from './operations/teams.ts';
import { passwordOperations } from './operations/passwords.ts';
import { userOperations } from './operations/users.ts';

export const OPERATIONS: readonly Operation[] = [
  ...appOperations,
  ...appEnvOperations,
  ...appRunOperations,
  ...appLogOperations,
  ...platformOperations,
  ...userOperations,
  ...passwordOperations,
  ...apiKeyOperations,
  ...teamOperations,
  ...appTokenOperations,
  ...quotaOperations,
  ...deployOperations,
  ...metadataOperations,
];
