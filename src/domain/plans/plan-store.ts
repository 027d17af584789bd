import type { Plan } from './plan.ts';

/** What must be remembered about plans; the built-in one is none of them. Readers answer null for what is missing. */
export interface PlanReader {
  plan(name: string): Promise<Plan | null>;
  /** Sorted by name. */
  plans(): Promise<Plan[]>;
}

export interface PlanWriter {
  /** A default one takes the place of the one before. Throws PlatformError `plan.name_taken`. */
  insertPlan(plan: Plan): Promise<void>;
  /** Missing: nothing to do. */
  deletePlan(name: string): Promise<void>;
}
