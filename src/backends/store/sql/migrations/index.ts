import type { DatabaseKind } from '../../../../sql/database.ts';
import type { MigrationSet } from '../../../../sql/migrate.ts';
import { initial } from './0001-initial.ts';
import { accounts } from './0002-accounts.ts';
import { appOperations } from './0003-app-operations.ts';
import { services } from './0004-services.ts';
import { plansAndPlatforms } from './0005-plans-and-platforms.ts';
import { customData } from './0006-custom-data.ts';
import { images } from './0007-images.ts';
import { rolloutFailures } from './0008-rollout-failures.ts';
import { audit } from './0009-audit.ts';
import { appSettings } from './0010-app-settings.ts';
import { volumes } from './0011-volumes.ts';
import { certificates } from './0012-certificates.ts';
import { appLinks } from './0013-app-links.ts';
import { bindingNames } from './0014-binding-names.ts';
import { registryLogins } from './0015-registry-logins.ts';
import { drains } from './0016-drains.ts';
import { planDisk } from './0017-plan-disk.ts';
import { appEdge } from './0018-app-edge.ts';
import { webhooks } from './0019-webhooks.ts';
import { auditLog } from './0020-audit-log.ts';
import { routedProcesses } from './0021-routed-processes.ts';
import { maintenancePage } from './0022-maintenance-page.ts';
import { placements } from './0023-placements.ts';
import { deployWarnings } from './0024-deploy-warnings.ts';
import { publishedImages } from './0025-published-images.ts';
import { leaseTokens } from './0026-lease-tokens.ts';
import { controls } from './0027-controls.ts';
import { repositories } from './0028-repositories.ts';
import { letters } from './0029-letters.ts';
import { deployTurns } from './0030-deploy-turns.ts';

/** In order of their names. Add, never change. */
export function migrations(kind: DatabaseKind): MigrationSet {
  return {
    table: 'migrations',
    // Deploys that it records have no turn, and the app's lease keeps those apart as before.
    readableFrom: '0029_letters',
    migrations: {
      '0001_initial': initial(kind),
      '0002_accounts': accounts(kind),
      '0003_app_operations': appOperations(kind),
      '0004_services': services(kind),
      '0005_plans_and_platforms': plansAndPlatforms(kind),
      '0006_custom_data': customData(kind),
      '0007_images': images(kind),
      '0008_rollout_failures': rolloutFailures(),
      '0009_audit': audit(kind),
      '0010_app_settings': appSettings(kind),
      '0011_volumes': volumes(kind),
      '0012_certificates': certificates(kind),
      '0013_app_links': appLinks(kind),
      '0014_binding_names': bindingNames(kind),
      '0015_registry_logins': registryLogins(kind),
      '0016_drains': drains(kind),
      '0017_plan_disk': planDisk(),
      '0018_app_edge': appEdge(kind),
      '0019_webhooks': webhooks(kind),
      '0020_audit_log': auditLog(kind),
      '0021_routed_processes': routedProcesses(kind),
      '0022_maintenance_page': maintenancePage(kind),
      '0023_placements': placements(),
      '0024_deploy_warnings': deployWarnings(kind),
      '0025_published_images': publishedImages(kind),
      '0026_lease_tokens': leaseTokens(kind),
      '0027_controls': controls(kind),
      '0028_repositories': repositories(kind),
      '0029_letters': letters(kind),
      '0030_deploy_turns': deployTurns(kind),
    },
  };
}
