/** Addresses are given out again, and the kernel remembers connections: those of a unit that has gone are not those of who has its address next. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { type NetworkApp, startNetworkApp } from '../../test/support/network-apps.ts';
import { skipFor } from '../../test/support/skips.ts';
import { probeSandbox } from '../sandbox/probe.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { UNIT_INDEXES } from './address-plan.ts';

const home = mkdtempSync(join(tmpdir(), 'tancho-inherited-'));
chmodSync(home, 0o711);
const stateDir = join(home, 'state');
const sandbox = await probeSandbox({ stateDir, home, level: 'auto' });
afterAll(async () => {
  await sandbox.close();
  rmSync(home, { recursive: true, force: true });
});

/** A later platform process of the home, which has come round all addresses to that of this unit. */
async function cameRoundTo({ address }: NetworkApp): Promise<Sandbox> {
  const next = join(stateDir, 'networks.next');
  const [high = 0, low = 0] = address.split('.').slice(2).map(Number);
  const index = (high % 16) * 256 + low;
  const lap = UNIT_INDEXES.to - UNIT_INDEXES.from + 1;
  const before = Number(readFileSync(next, 'latin1'));
  const rounds = Math.ceil((before - index) / lap);
  writeFileSync(next, `${index + rounds * lap}`);
  return probeSandbox({ stateDir, home, level: 'auto' });
}

it(
  'connections that went to the unit before do not go to the next one',
  skipFor(!sandbox.networks && sandbox.description),
  async () => {
    const start = (from: Sandbox, id: string, tenant: string): Promise<NetworkApp> =>
      startNetworkApp(from, { home, id, tenant });
    const [stays, goes] = await Promise.all([start(sandbox, 'stays', 'thief'), start(sandbox, 'goes', 'thief')]);
    expect(await stays.to('kept', goes.address, 8080)).toBe('reached');
    await goes.end();
    const later = await cameRoundTo(goes);
    const victim = await start(later, 'victim', 'victim');
    expect(victim.address).toBe(goes.address);
    expect(await stays.to('kept', victim.address, 8080)).toBe('silence');
    await Promise.all([victim.end(), stays.end()]);
    await later.close();
  },
);
