/** The contract over HTTP; see open-target.ts for the server it is asked of. */
import { afterAll, beforeAll } from 'vitest';
import { coverageChecks } from './coverage.ts';
import { generatedChecks } from './generated.ts';
import { type OpenTarget, openTarget } from './open-target.ts';
import { CONTRACT } from './suite.ts';
import type { Target } from './target.ts';

let open: OpenTarget | undefined;

beforeAll(async () => {
  open = await openTarget();
});
afterAll(() => open?.dispose());

function getTarget(): Target {
  if (open === undefined) throw new Error('There is no server to ask.');
  return open.target;
}

generatedChecks(getTarget);
for (const contract of CONTRACT) contract(getTarget);
coverageChecks(getTarget);
