import type { Plan } from '../../domain/plans/plan.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

/** Bytes and thousandths of a processor; 0 for no limit, of the disk: for that of the settings. Units have no swap of their own. */
export const planFields = Type.Object({
  name: Type.String(),
  memory: Type.Integer(),
  swap: Type.Integer(),
  cpushare: Type.Integer(),
  cpumilli: Type.Integer(),
  disk: Type.Integer(),
  default: Type.Boolean(),
});

export function planToWire({ name, memoryBytes, cpuShare, cpuMillis, diskBytes, isDefault }: Plan) {
  const limits = { memory: memoryBytes, swap: 0, cpushare: cpuShare, cpumilli: cpuMillis, disk: diskBytes };
  return { name, ...limits, default: isDefault };
}

export const plans = shape(Type.Array(planFields), (list: readonly Plan[]) => list.map(planToWire));

/** Clients read the type to know which options a router takes; it is its name. */
export const routers = shape(
  Type.Array(Type.Object({ name: Type.String(), type: Type.String() })),
  (names: readonly string[]) => names.map((name) => ({ name, type: name })),
);
