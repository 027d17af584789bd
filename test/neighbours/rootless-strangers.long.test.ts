/** In networks without root: what a unit that has died had, its address and its door, is nobody else's while the edge still sends requests there. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runAsOrdinaryUser, whyNoRootlessNetworks } from '../support/ordinary-user.ts';
import { skipFor } from '../support/skips.ts';

const ROUNDS = 100;
const SCRIPT = join(import.meta.dirname, '../support/rootless-takeover.ts');

it(
  'none of its requests reaches another app, also right after a start of the platform',
  { ...skipFor(whyNoRootlessNetworks(SCRIPT)), timeout: 600_000 },
  async () => {
    const found = await runAsOrdinaryUser(SCRIPT, `${ROUNDS}`);
    expect(found['description']).toContain('networks: own (pasta)');
    expect(found).toMatchObject({ served: ROUNDS, stolen: 0, others: [] });
    expect(found['requests']).toBeGreaterThanOrEqual(3 * ROUNDS);
  },
);
