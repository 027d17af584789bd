/** Twenty apps in networks of their own, every one against every other: only the linked ones connect, one way, and whoever is bound. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { probeSandbox } from '../../src/sandbox/probe.ts';
import { type NetworkApp, startNetworkApp } from '../support/network-apps.ts';

const APPS = 20;
const LINKED = [
  ['app0', 'app1'],
  ['app1', 'app0'],
  ['app2', 'app3'],
  ['app4', 'app3'],
  ['app19', 'app0'],
] as const;
const BOUND = 'app7';

const home = mkdtempSync(join(tmpdir(), 'tancho-pairs-'));
chmodSync(home, 0o711);
const sandbox = await probeSandbox({ stateDir: join(home, 'state'), home, level: 'auto' });
const why = sandbox.links ? null : sandbox.description;
afterAll(async () => {
  await sandbox.close();
  rmSync(home, { recursive: true, force: true });
});

it('connects only pairs that are linked, and who is bound to what', async (test) => {
  if (why !== null) return test.skip(why);
  const bound = createServer((socket) => socket.on('error', () => undefined).end('here'));
  await new Promise<void>((resolve) => bound.listen(0, '0.0.0.0', resolve));
  const { port } = bound.address() as AddressInfo;
  const apps: NetworkApp[] = [];
  try {
    for (let index = 0; index < APPS; index += 1) {
      const tenant = `app${index}`;
      const services = tenant === BOUND ? [{ address: '127.0.0.1', port }] : [];
      apps.push(await startNetworkApp(sandbox, { home, id: tenant, tenant, services }));
    }
    // Each has the same ports and the same abstract socket as all others.
    expect(apps.flatMap(({ lines }) => lines)).toEqual(apps.map(() => 'listening'));
    const reached = [...new Set(LINKED.map(([, to]) => to))];
    await sandbox.link(
      reached.map((to) => {
        const from = LINKED.filter(([, other]) => other === to).map(([name]) => name);
        return { tenant: to, from, targets: [{ id: to, port: 80 }] };
      }),
    );
    const common = new Map(
      apps.flatMap(({ tenant }) => sandbox.linked(tenant)).map((one) => [one.tenant, one.address]),
    );
    expect([...common.keys()].sort()).toEqual([...reached].sort());

    const wrong: string[] = [];
    const attempt = async (from: NetworkApp, to: string, place: [host: string, port: number, wanted: boolean]) => {
      const [host, at, wanted] = place;
      const kind = at === 8080 ? 'udp' : 'tcp';
      const result = await from.to(kind, host, at);
      if ((result === 'reached') !== wanted) wrong.push(`${from.tenant} -> ${to} ${kind} ${host}:${at}: ${result}`);
    };
    const abstract = async (from: NetworkApp, to: NetworkApp): Promise<void> => {
      const result = await from.abstract(to.id);
      if ((result === 'reached') !== (from === to))
        wrong.push(`${from.tenant} -> abstract socket of ${to.id}: ${result}`);
    };
    const isLinked = (from: string, to: string): boolean => LINKED.some(([a, b]) => a === from && b === to);
    // The address of the machine itself, on its network cards.
    const machine = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ family, internal }) => family === 'IPv4' && !internal)
      .map(({ address }) => address);
    await Promise.all(
      apps.map(async (from) => {
        await Promise.all(
          apps.flatMap((to) => [
            attempt(from, to.tenant, [to.address, 80, from === to]),
            attempt(from, to.tenant, [to.address, 8080, from === to]),
            abstract(from, to),
            ...[80, 8080].map((at) => {
              const host = common.get(to.tenant);
              // Itself it has no link to, and no need of one.
              if (host === undefined || from === to) return null;
              return attempt(from, to.tenant, [host, at, isLinked(from.tenant, to.tenant)]);
            }),
          ]),
        );
        await attempt(from, 'what is bound', ['127.0.0.1', port, from.tenant === BOUND]);
        for (const host of machine) await attempt(from, 'the machine', [host, port, false]);
        await attempt(from, 'metadata', ['169.254.169.254', 80, false]);
      }),
    );
    expect(wrong).toEqual([]);
  } finally {
    await Promise.all(apps.map((app) => app.end()));
    await new Promise((resolve) => bound.close(resolve));
  }
}, 600_000);
