import { ProviderError, type ProviderPlan } from '../contract.ts';

export interface PostgresPlan extends ProviderPlan {
  /** To the database, all bindings together. */
  readonly connections: number;
}

export const POSTGRES_PLANS: readonly PostgresPlan[] = [
  { name: 'small', description: 'A database of its own, up to 20 connections', connections: 20 },
  { name: 'medium', description: 'A database of its own, up to 60 connections', connections: 60 },
  { name: 'large', description: 'A database of its own, up to 150 connections', connections: 150 },
];

/** What a server that takes so many connections can keep; the smallest always. */
export function plansFor(connections: number): readonly PostgresPlan[] {
  return POSTGRES_PLANS.filter((plan, at) => at === 0 || plan.connections < connections);
}

/** '' is the smallest. */
export function postgresPlan(name: string, offered = POSTGRES_PLANS): PostgresPlan {
  const plan = name === '' ? offered[0] : offered.find((one) => one.name === name);
  if (plan !== undefined) return plan;
  const names = offered.map((one) => one.name).join(', ');
  throw new ProviderError('invalid', `There is no plan "${name}"; there are ${names}.`);
}
