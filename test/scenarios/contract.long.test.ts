/**
 * The contract over the built program, with really deployed apps: on PostgreSQL where there is one. On SQLite, with units in memory, it is asked
 * in test/contract/contract.test.ts; that both stores do the same is shown by their conformance suite.
 */
import { afterAll, beforeAll, describe } from 'vitest';
import { generatedChecks } from '../contract/generated.ts';
import { openGitDeploys, type GitDeploys } from '../contract/git-deploys.ts';
import { coverageChecks } from '../contract/coverage.ts';
import { CONTRACT } from '../contract/suite.ts';
import { type Target, targetAt } from '../contract/target.ts';
import { letterIn } from '../support/outbox.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startWorld, type World } from '../support/world.ts';

const database = await createTestDatabase();

describe(database === null ? 'on SQLite' : 'on PostgreSQL', () => {
  let world: World | undefined;
  let deploys: GitDeploys | undefined;
  let target: Target;

  beforeAll(async () => {
    const started = await startWorld(database === null ? {} : { env: { TANCHO_DATABASE_URL: database.url } });
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
    await database?.dispose();
  });

  const getTarget = (): Target => target;
  // What is before a path is the same for every store: the other variants are asked in memory.
  generatedChecks(getTarget, ['union']);
  for (const contract of CONTRACT) contract(getTarget);
  coverageChecks(getTarget);
});
