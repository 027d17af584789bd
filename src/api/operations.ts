/** Every operation of the API: adding one is adding an entry to a file of operations/. */
import type { Operation } from './operation.ts';
import { appChangeOperations } from './operations/app-changes.ts';
import { apiKeyOperations } from './operations/api-keys.ts';
import { appTokenOperations } from './operations/app-tokens.ts';
import { appCnameOperations } from './operations/app-cnames.ts';
import { appEnvOperations } from './operations/app-env.ts';
import { appEdgeOperations } from './operations/app-edge.ts';
import { appLinkOperations } from './operations/app-links.ts';
import { appLogOperations } from './operations/app-log.ts';
import { appRunOperations } from './operations/app-run.ts';
import { appShellOperations } from './operations/app-shell.ts';
import { appStartStopOperations } from './operations/app-start-stop.ts';
import { appSwapOperations } from './operations/app-swap.ts';
import { appUpkeepOperations } from './operations/app-upkeep.ts';
import { unitReportOperations } from './operations/unit-reports.ts';
import { appUnitOperations } from './operations/app-units.ts';
import { appOperations } from './operations/apps.ts';
import { diagnosisOperations } from './operations/diagnosis.ts';
import { deployOperations } from './operations/deploys.ts';
import { drainOperations } from './operations/drains.ts';
import { instanceOperations } from './operations/instances.ts';
import { edgeOperations } from './operations/edges.ts';
import { eventOperations } from './operations/events.ts';
import { healerOperations } from './operations/healers.ts';
import { metricOperations } from './operations/metrics.ts';
import { metadataOperations } from './operations/metadata.ts';
import { certificateOperations } from './operations/certificates.ts';
import { planOperations } from './operations/plans.ts';
import { platformOperations } from './operations/platforms.ts';
import { poolOperations } from './operations/pools.ts';
import { quotaOperations } from './operations/quotas.ts';
import { serverOperations } from './operations/server.ts';
import { serviceProxyOperations } from './operations/service-proxy.ts';
import { serviceOperations } from './operations/services.ts';
import { teamOperations } from './operations/teams.ts';
import { passwordOperations } from './operations/passwords.ts';
import { releaseOperations } from './operations/releases.ts';
import { registryOperations } from './operations/registries.ts';
import { volumeOperations } from './operations/volumes.ts';
import { browserSessionOperations } from './operations/browser-session.ts';
import { alertOperations } from './operations/alerts.ts';
import { backupOperations } from './operations/backups.ts';
import { webhookOperations } from './operations/webhooks.ts';
import { userOperations } from './operations/users.ts';

export const OPERATIONS: readonly Operation[] = [
  ...appOperations,
  ...appEnvOperations,
  ...appRunOperations,
  ...appShellOperations,
  ...appLogOperations,
  ...drainOperations,
  ...webhookOperations,
  ...alertOperations,
  ...backupOperations,
  ...diagnosisOperations,
  ...metricOperations,
  ...appSwapOperations,
  ...appStartStopOperations,
  ...appUnitOperations,
  ...unitReportOperations,
  ...appCnameOperations,
  ...appLinkOperations,
  ...appEdgeOperations,
  ...appChangeOperations,
  ...appUpkeepOperations,
  ...releaseOperations,
  ...volumeOperations,
  ...registryOperations,
  ...serviceOperations,
  ...instanceOperations,
  ...serviceProxyOperations,
  ...poolOperations,
  ...certificateOperations,
  ...planOperations,
  ...platformOperations,
  ...userOperations,
  ...browserSessionOperations,
  ...passwordOperations,
  ...apiKeyOperations,
  ...teamOperations,
  ...appTokenOperations,
  ...quotaOperations,
  ...healerOperations,
  ...edgeOperations,
  ...serverOperations,
  ...eventOperations,
  ...deployOperations,
  ...metadataOperations,
];
