/**
 * Run by an ordinary user: an app whose unit dies, again and again, and another app that starts where it can get what that one had, while an edge
 * still goes by the old table. Prints as JSON how many requests there were, and how many reached the other app. Arguments: a directory of that user's, rounds.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { probeSandbox } from '../../src/sandbox/probe.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { EdgeRig } from './edge-rig.ts';
import { type NetworkApp, startNetworkApp } from './network-apps.ts';
import { until } from './until.ts';

const [, , home = '', rounds = ''] = process.argv;
const stateDir = join(home, 'state');
mkdirSync(stateDir, { recursive: true });
const PORT = 8082;
/** In every so many rounds the platform begins anew after the death. */
const RESTART_EVERY = 2;
const GET = 'GET / HTTP/1.1\r\nHost: blog.test\r\nCookie: secret\r\nConnection: close\r\n\r\n';

const probe = (asBefore: boolean): Promise<Sandbox> =>
  probeSandbox({ stateDir, home, level: 'bubblewrap', network: { mode: 'own', allowed: [] }, asBefore });

async function started(sandbox: Sandbox, id: string, tenant: string): Promise<NetworkApp> {
  const app = await startNetworkApp(sandbox, { home, id, tenant });
  await sandbox.openDoor(id, PORT);
  return app;
}

let sandbox = await probe(false);
const { description } = sandbox;
// By whom the networks of the home live on.
const steady = await started(sandbox, 'steady', 'steady');
const rig = await EdgeRig.start();
const found = { description, requests: 0, served: 0, stolen: 0, others: [] as string[] };

async function asked(): Promise<void> {
  const answer = await rig.exchange(GET);
  found.requests += 1;
  if (!answer.startsWith('HTTP/1.1 502')) found.others.push(answer.slice(0, 60));
}

for (let round = 1; round <= Number(rounds); round += 1) {
  const victim = await started(sandbox, `victim${round}`, 'blog');
  await rig.route({ unit: victim.id, host: victim.address, port: victim.door ?? 0 });
  await until(async () => (await rig.exchange(GET)).endsWith(victim.id), { what: 'the app to answer' });
  found.served += 1;
  const asking = [asked(), asked()];
  // It dies, and its network goes with it: the edge has not been notified yet.
  await victim.end();
  await Promise.allSettled(asking);
  found.others.splice(0);
  if (round % RESTART_EVERY === 1) {
    await sandbox.close();
    sandbox = await probe(true);
  }
  const thief = await started(sandbox, `thief${round}`, 'thief');
  await Promise.all([asked(), asked(), asked()]);
  found.stolen += await thief.requests();
  await thief.end();
  if (found.others.length > 0) break;
}
await rig.stop();
await steady.end();
await sandbox.close();
console.log(JSON.stringify(found));
process.exit();
