/** What the doors (api, git-push) are given: every use case of the product, each checking access itself. */
import type { AppTokens } from './app-tokens/app-tokens.ts';
import type { Apps } from './apps/apps.ts';
import type { AppChanges } from './apps/app-changes.ts';
import type { Cnames } from './apps/cnames.ts';
import type { Env } from './apps/env.ts';
import type { Run } from './apps/run.ts';
import type { Scale } from './apps/scale.ts';
import type { StartStop } from './apps/start-stop.ts';
import type { Swap } from './apps/swap.ts';
import type { Deploys } from './deploys/deploys.ts';
import type { Healers } from './healers/healers.ts';
import type { Logs } from './logs/logs.ts';
import type { Plans } from './plans.ts';
import type { Platforms } from './platforms/platforms.ts';
import type { Pools } from './pools/pools.ts';
import type { Quotas } from './quotas/quotas.ts';
import type { Teams } from './teams/teams.ts';
import type { Users } from './users/users.ts';

export interface UseCases {
  readonly apps: Apps;
  readonly env: Env;
  readonly run: Run;
  readonly scale: Scale;
  readonly startStop: StartStop;
  readonly swap: Swap;
  readonly cnames: Cnames;
  readonly appChanges: AppChanges;
  readonly logs: Logs;
  readonly deploys: Deploys;
  readonly platforms: Platforms;
  readonly plans: Plans;
  readonly pools: Pools;
  readonly healers: Healers;
  readonly users: Users;
  readonly teams: Teams;
  readonly quotas: Quotas;
  readonly appTokens: AppTokens;
}
