/** The part of a broker's catalog that the platform needs. */
import type { EndpointPlan } from '../../../domain/services/service-endpoint.ts';
import { isRecord } from '../../../lib/is-record.ts';

export interface OsbPlan extends EndpointPlan {
  readonly id: string;
  readonly bindable: boolean;
  /** Null: the broker sets no bound. */
  readonly maxPollingSeconds: number | null;
  /** To be sent back when the plan is provisioned; null when it has none. */
  readonly maintenanceVersion: string | null;
}

export interface Offering {
  readonly id: string;
  readonly name: string;
  /** What apps would have to get besides credentials: `syslog_drain`, `route_forwarding`, `volume_mount`. */
  readonly requires: readonly string[];
  readonly instancesRetrievable: boolean;
  readonly bindingsRetrievable: boolean;
  readonly plans: readonly OsbPlan[];
}

/** Null: there is none of that name. Throws `invalid()` when this is no catalog. Unknown fields are ignored. */
export function offeringOf(body: unknown, name: string, invalid: () => Error): Offering | null {
  if (!isRecord(body) || !Array.isArray(body.services) || !body.services.every(isRecord)) throw invalid();
  const found = body.services.find((service) => service.name === name);
  if (found === undefined) return null;
  const { id, bindable, plans, requires = [] } = found;
  if (typeof id !== 'string' || id === '' || !Array.isArray(plans) || !plans.every(isRecord)) throw invalid();
  if (!Array.isArray(requires) || !requires.every((need) => typeof need === 'string')) throw invalid();
  return {
    id,
    name,
    requires,
    instancesRetrievable: found.instances_retrievable === true,
    bindingsRetrievable: found.bindings_retrievable === true,
    plans: plans.map((plan) => planOf(plan, bindable === true, invalid)),
  };
}

function planOf(plan: Record<string, unknown>, bindable: boolean, invalid: () => Error): OsbPlan {
  const { id, name, description = '', maximum_polling_duration: seconds, maintenance_info: maintenance } = plan;
  if (typeof id !== 'string' || id === '' || typeof name !== 'string' || name === '') throw invalid();
  if (typeof description !== 'string') throw invalid();
  const version = isRecord(maintenance) ? maintenance.version : null;
  return {
    id,
    name,
    description,
    bindable: typeof plan.bindable === 'boolean' ? plan.bindable : bindable,
    maxPollingSeconds: typeof seconds === 'number' && seconds > 0 ? seconds : null,
    maintenanceVersion: typeof version === 'string' ? version : null,
  };
}
