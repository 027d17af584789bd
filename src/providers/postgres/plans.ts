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

/** '' is the smallest. */
export function postgresPlan(name: string): PostgresPlan {
  const plan = name === '' ? POSTGRES_PLANS[0] : POSTGRES_PLANS.find((one) => one.name === name);
  if (plan !== undefined) return plan;
  const names = POSTGRES_PLANS.map((one) => one.name).join(', ');
  throw new ProviderError('invalid', `There is no plan "${name}"; there are ${names}.`);
}
