/** Real processes of an ordinary user, in networks that pasta connects: who reaches whom, and what is left when parts of it are killed. */
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runAsOrdinaryUser, whyNoRootlessNetworks } from '../../../test/support/ordinary-user.ts';
import { skipFor } from '../../../test/support/skips.ts';

const DEADLINE_MS = 10 * 60_000;
const SCRIPT = join(import.meta.dirname, '../../../test/support/rootless-networks.ts');

describe('networks without root', skipFor(whyNoRootlessNetworks(SCRIPT)), () => {
  let found: Record<string, unknown> = {};

  beforeAll(async () => {
    found = await runAsOrdinaryUser(SCRIPT);
  }, DEADLINE_MS);

  it('are found, and said to be', () => {
    expect(found['description']).toContain('networks: own (pasta)');
  });

  it('let the machine reach the one port of a unit that its door is opened for, also one on its loopback only', () => {
    expect(found).toMatchObject({ closed: '', doors: ['here', 'here'] });
  });

  it('let units of one app reach each other, and no others, by TCP, UDP and abstract sockets', () => {
    expect(found['pairs']).toEqual(['shop1 tcp shop2', 'shop1 udp shop2', 'shop2 tcp shop1', 'shop2 udp shop1']);
  });

  it("open what is bound to an app on the machine's loopback, and nothing else of the machine by any address", () => {
    expect(found).toMatchObject({ bound: ['127.0.0.1:bound'], unbound: [] });
  });

  it('let an app reach one that it is linked to, and no other app', () => {
    expect(found['linked']).toEqual(['reached', expect.not.stringMatching(/^reached$/)]);
  });

  it('have another pasta in the place of one that has been killed, by themselves', () => {
    expect(found['mended']).toBe('here');
  });

  it('are gone on with by the next platform process, pasta too', () => {
    expect(found['adopted']).toEqual([true, 'here', 'here']);
  });

  it('begin anew when what holds them has been killed, without the processes that were in them', () => {
    expect(found['fault']).toBe('what holds the networks of units has been ended');
    expect(found['anew']).toEqual(['here', 'reached']);
  });

  it('leave nothing behind', () => {
    expect(found['left']).toBe(0);
  });
});
