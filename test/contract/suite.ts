/** The whole contract, as one list: contract.test.ts asks it of one server, scenarios/contract.long.test.ts of the built program. */
import { accountsContract } from './accounts.ts';
import { administrationContract } from './administration.ts';
import { appOperationsContract } from './app-operations.ts';
import { appRecordsContract } from './app-records.ts';
import { appTokensContract } from './app-tokens.ts';
import { appsContract } from './apps.ts';
import { deploysContract } from './deploys.ts';
import { healersContract } from './healers.ts';
import { quotasContract } from './quotas.ts';
import { servicesContract } from './services.ts';
import type { Target } from './target.ts';
import { teamsContract } from './teams.ts';
import { usersContract } from './users.ts';

/** A further area of the API is a further entry. */
export const CONTRACT: readonly ((getTarget: () => Target) => void)[] = [
  usersContract,
  accountsContract,
  quotasContract,
  healersContract,
  appTokensContract,
  teamsContract,
  appsContract,
  appOperationsContract,
  appRecordsContract,
  administrationContract,
  deploysContract,
  servicesContract,
];
