/** Services and their instances (specification 2); the two shapes of an instance differ in the case of their fields. */
import type { InstanceView, ListedInstances } from '../../domain/services/instances.ts';
import type { OwnedService } from '../../domain/services/services.ts';
import type { EndpointPlan } from '../../domain/services/service-endpoint.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

const names = Type.Array(Type.String());
const listing = Type.Array(Type.Object({ service: Type.String(), instances: names }));

/**
 * An array, as the clients of every age read it: the specification shows one entry of it, and there is no way to list several
 * services in one object.
 */
export const ownedServices = shape(listing, (list: readonly OwnedService[]) =>
  list.map(({ service, instances }) => ({ service: service.name, instances: [...instances] })),
);

export const serviceInstances = shape(listing, (list: readonly ListedInstances[]) =>
  list.map(({ service, instances }) => ({ service, instances: instances.map(({ name }) => name) })),
);

/** `plans`: of each of these instances, in their order, as clients from 1.0 on show them. */
export const serviceInstancesUnion = shape(
  Type.Array(Type.Object({ service: Type.String(), instances: names, plans: names })),
  (list: readonly ListedInstances[]) =>
    list.map(({ service, instances }) => ({
      service,
      instances: instances.map(({ name }) => name),
      plans: instances.map(({ plan }) => plan),
    })),
);

const published = { name: Type.String(), servicename: Type.String(), teams: names, apps: names };
const publishedElement = { Name: Type.String(), Teams: names, Apps: names, ServiceName: Type.String() };
const texts = Type.Record(Type.String(), Type.String());
const more = {
  Id: Type.String(),
  Info: texts,
  TeamOwner: Type.String(),
  PlanName: Type.String(),
  PlanDescription: Type.String(),
  Description: Type.String(),
  Tags: names,
  Status: Type.String(),
};

function moreOf({ instance, info, planDescription }: InstanceView) {
  return {
    Id: instance.id,
    Info: Object.fromEntries((info ?? []).map(({ label, value }) => [label, value])),
    TeamOwner: instance.teamOwner,
    PlanName: instance.plan,
    PlanDescription: planDescription ?? '',
    Description: instance.description,
    Tags: [...instance.tags],
    Status: instance.state,
  };
}

function factsOf({ instance, apps }: InstanceView) {
  return { name: instance.name, servicename: instance.service, teams: [...instance.teams], apps: [...apps] };
}

function elementOf({ instance, apps }: InstanceView) {
  return { Name: instance.name, Teams: [...instance.teams], Apps: [...apps], ServiceName: instance.service };
}

export const instance = shape(Type.Object(published), factsOf);
/** `CustomInfo` is what clients from 1.0 on read. */
export const instanceUnion = shape(Type.Object({ ...published, ...more, CustomInfo: texts }), (view: InstanceView) => ({
  ...factsOf(view),
  ...moreOf(view),
  CustomInfo: moreOf(view).Info,
}));

export const instances = shape(Type.Array(Type.Object(publishedElement)), (list: readonly InstanceView[]) =>
  list.map(elementOf),
);
export const instancesUnion = shape(
  Type.Array(Type.Object({ ...publishedElement, ...more })),
  (list: readonly InstanceView[]) => list.map((view) => ({ ...elementOf(view), ...moreOf(view) })),
);

/** Name -> value. */
export const boundVars = shape(texts, (vars: Readonly<Record<string, string>>) => ({ ...vars }));

export const servicePlans = shape(
  Type.Array(Type.Object({ Name: Type.String(), Description: Type.String() })),
  (list: readonly EndpointPlan[]) => list.map(({ name, description }) => ({ Name: name, Description: description })),
);
