/** One server alone on what it takes for a machine: forked into namespaces of its own, it pushes and loads when it is asked. */
import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { edgePid } from '../../test/support/world.ts';
import { Bench } from '../bench.ts';
import { load } from '../http-load.ts';
import { runTool } from '../../src/lib/tools/run-tool.ts';
import { cpuMs, family } from '../process-use.ts';
import { Pusher } from '../pushing.ts';
import { PLAIN_APP } from '../sample-apps.ts';
import type { Answer, Question } from './apart.ts';

const APP = 'target';
const CONNECTIONS = 32;
/** Of a machine on which some other program has one: it knows connections, and translates. */
const FIREWALL = `table ip firewall {
  chain input {
    type filter hook input priority filter; policy drop
    ct state established,related accept
    iifname "lo" accept
  }
  chain postrouting {
    type nat hook postrouting priority srcnat
    ip saddr 172.17.0.0/16 masquerade
  }
}
`;

const run = promisify(execFile);
const bench = new Bench(
  () => {},
  (text) => console.error(text),
);
let asked = Promise.resolve();

async function furnish(): Promise<void> {
  // Sysfs shows the links of the namespace it was mounted in; the control groups below it are everybody's.
  const groups = await mkdtemp(join(tmpdir(), 'tancho-bench-groups-'));
  await run('mount', ['--rbind', '/sys/fs/cgroup', groups]);
  await run('mount', ['-t', 'sysfs', 'sysfs', '/sys']);
  await run('mount', ['--rbind', groups, '/sys/fs/cgroup']);
  await run('umount', ['-R', '-l', groups]);
  await run('rmdir', [groups]);
  await run('mount', ['-t', 'tmpfs', 'tmpfs', '/run']);
  await run('ip', ['link', 'set', 'lo', 'up']);
}

async function serve(network: string): Promise<(question: Question) => Promise<Answer>> {
  const world = await bench.world({ env: { TANCHO_NETWORK: network, TANCHO_EDGE_WORKERS: '1' } });
  const pusher = await Pusher.open(bench, world);
  const work = bench.keep(await pusher.workTree(PLAIN_APP));
  await pusher.createApp(APP);
  await pusher.push(work, APP, 'ssh');
  const edge = family(await edgePid(world));
  const port = Number(world.edge.split(':')[1]);
  const ms = async (): Promise<number> => (await Promise.all(edge.map(cpuMs))).reduce((sum, each) => sum + each, 0);
  return async (question) => {
    if (question.ask === 'networks') return { own: world.output().includes('networks: own') };
    if (question.ask === 'push') {
      // Git sends nothing of what is there already.
      await work.commit('nothing changed');
      return { push: await pusher.push(work, APP, 'ssh') };
    }
    if (question.ask === 'firewall') {
      await runTool(['nft', '-f', '-'], FIREWALL);
      return { firewall: true };
    }
    const before = await ms();
    const head = ['GET /100 HTTP/1.1', `Host: ${APP}.localhost`];
    const loaded = await load({ port, head, connections: CONNECTIONS, seconds: question.seconds });
    return { load: loaded, edgeMs: (await ms()) - before };
  };
}

async function end(): Promise<void> {
  await bench.close();
  process.exit(0);
}

process.once('disconnect', () => void end());
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
await furnish();
const answer = await serve(process.argv[2] ?? '');
process.on('message', (question: Question) => {
  asked = asked.then(async () => {
    const given = await answer(question).catch((error: unknown) => ({ failed: String(error) }));
    process.send?.(given);
  });
});
process.send?.({ ready: true });
