/**
 * The contract over the built program, with really deployed apps: all of it on SQLite, and what touches the database on
 * PostgreSQL too where there is one.
 */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { accountsContract } from '../contract/accounts.ts';
import { appTokensContract } from '../contract/app-tokens.ts';
import { appsContract } from '../contract/apps.ts';
import { deploysContract } from '../contract/deploys.ts';
import { generatedChecks } from '../contract/generated.ts';
import { quotasContract } from '../contract/quotas.ts';
import type { Target } from '../contract/target.ts';
import { teamsContract } from '../contract/teams.ts';
import { usersContract } from '../contract/users.ts';
import { createWorkTree, nodeApp, type WorkTree } from '../support/git.ts';
import { letterIn } from '../support/outbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { startWorld, type World } from '../support/world.ts';

let work: WorkTree;
const database = await createTestDatabase();

beforeAll(async () => {
  work = await createWorkTree(nodeApp('hello'));
});
afterAll(() => work.dispose());

function contractOn(given: TestDatabase | null): void {
  let world: World | undefined;
  let target: Target;

  beforeAll(async () => {
    const started = await startWorld(given === null ? {} : { env: { TANCHO_DATABASE_URL: given.url } });
    world = started;
    target = {
      baseUrl: started.apiUrl,
      adminEmail: started.adminEmail,
      adminPassword: started.adminPassword,
      letterTo: (email) => letterIn(started.home, email),
      async deploy(app, token) {
        const url = new URL(`${started.apiUrl}/git/${app}.git`);
        url.username = 'token';
        url.password = token;
        const pushed = await work.push(url.href);
        expect(pushed.code, pushed.stderr).toBe(0);
      },
    };
  });
  afterAll(async () => {
    await world?.dispose();
    await given?.dispose();
  });

  const getTarget = (): Target => target;
  if (given === null) generatedChecks(getTarget);
  usersContract(getTarget);
  accountsContract(getTarget);
  quotasContract(getTarget);
  appTokensContract(getTarget);
  teamsContract(getTarget);
  appsContract(getTarget);
  deploysContract(getTarget);
}

describe('on SQLite', () => contractOn(null));
describe.skipIf(database === null)('on PostgreSQL', () => contractOn(database));
