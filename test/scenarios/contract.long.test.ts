/**
 * The contract over the built program, with really deployed apps: all of it on SQLite, and what touches the database on
 * PostgreSQL too where there is one and time for it.
 */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { generatedChecks } from '../contract/generated.ts';
import { openGitDeploys, type GitDeploys } from '../contract/git-deploys.ts';
import { coverageChecks } from '../contract/coverage.ts';
import { CONTRACT } from '../contract/suite.ts';
import { type Target, targetAt } from '../contract/target.ts';
import { letterIn } from '../support/outbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { startWorld, type World } from '../support/world.ts';

const database = await createTestDatabase();

function contractOn(given: TestDatabase | null): void {
  let world: World | undefined;
  let deploys: GitDeploys | undefined;
  let target: Target;

  beforeAll(async () => {
    const started = await startWorld(given === null ? {} : { env: { TANCHO_DATABASE_URL: given.url } });
    world = started;
    deploys = await openGitDeploys(started.apiUrl);
    target = await targetAt({
      baseUrl: started.apiUrl,
      adminEmail: started.adminEmail,
      adminPassword: started.adminPassword,
      letterTo: (email) => letterIn(started.home, email),
      deploy: deploys.deploy,
    });
  });
  afterAll(async () => {
    await deploys?.dispose();
    await world?.dispose();
    await given?.dispose();
  });

  const getTarget = (): Target => target;
  if (given === null) generatedChecks(getTarget);
  for (const contract of CONTRACT) contract(getTarget);
  if (given === null) coverageChecks(getTarget);
}

describe('on SQLite', () => contractOn(null));
if (database !== null) describe('on PostgreSQL', () => contractOn(database));
else it('on PostgreSQL', ({ skip }) => skip('there is no PostgreSQL'));
