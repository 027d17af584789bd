/**
 * Runs the contract over CONTRACT_BASE_URL (with ADMIN_EMAIL and ADMIN_PASSWORD) when it is set, otherwise over the API with
 * everything behind it in memory. The name is not BASE_URL because the test runner sets that one itself.
 */
import { afterAll, beforeAll } from 'vitest';
import { ADMIN, type MemoryApi, startMemoryApi } from '../support/memory-api.ts';
import { accountsContract } from './accounts.ts';
import { appTokensContract } from './app-tokens.ts';
import { appsContract } from './apps.ts';
import { deploysContract } from './deploys.ts';
import { generatedChecks } from './generated.ts';
import { quotasContract } from './quotas.ts';
import type { Target } from './target.ts';
import { teamsContract } from './teams.ts';
import { usersContract } from './users.ts';

const { CONTRACT_BASE_URL, ADMIN_EMAIL = '', ADMIN_PASSWORD = '' } = process.env;
let memory: MemoryApi | null = null;
let target: Target;

beforeAll(async () => {
  if (CONTRACT_BASE_URL !== undefined) {
    target = { baseUrl: CONTRACT_BASE_URL.replace(/\/$/, ''), adminEmail: ADMIN_EMAIL, adminPassword: ADMIN_PASSWORD };
    return;
  }
  const api = await startMemoryApi();
  memory = api;
  target = {
    baseUrl: api.baseUrl,
    adminEmail: ADMIN.email,
    adminPassword: ADMIN.password,
    deploy: async (app) => api.platform.deployed(app),
    letterTo: (email) => api.letters.findLast((letter) => letter.to === email)?.text ?? '',
  };
});

afterAll(() => memory?.server.close());

const getTarget = (): Target => target;
generatedChecks(getTarget);
usersContract(getTarget);
accountsContract(getTarget);
quotasContract(getTarget);
appTokensContract(getTarget);
teamsContract(getTarget);
appsContract(getTarget);
deploysContract(getTarget);
