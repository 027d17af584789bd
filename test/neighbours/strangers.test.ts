/** Where units share the network of the machine: whoever takes the port of one that has died gets none of its requests. */
import { expect, it } from 'vitest';
import {
  createProcessWorld,
  openLevel,
  type ProcessWorld,
} from '../../src/backends/provisioner/process/provisioner-world.ts';
import { NEVER, SERVES, UNLIMITED } from '../../src/backends/provisioner/conformance-suite.ts';
import type { UnitSpec } from '../../src/domain/units/provisioner.ts';
import type { Target } from '../../src/domain/routes/router.ts';
import { EdgeRig } from '../support/edge-rig.ts';
import { until } from '../support/until.ts';
import { SLOW } from '../support/slow.ts';

const ROUNDS = SLOW ? 100 : 2;
const GET = 'GET / HTTP/1.1\r\nHost: blog.test\r\nCookie: secret\r\nConnection: close\r\n\r\n';

/** Takes the port it is asked to take as soon as that is free, and answers and counts whoever sends something there. */
const STRANGER = `node -e '
  const net = require("node:net");
  let taken = null, wanted = 0, sent = 0, holds = false;
  const take = () => {
    if (wanted === 0 || holds) return;
    const server = net.createServer((socket) => {
      socket.on("error", () => {}).on("data", () => { sent += 1; socket.end("HTTP/1.1 200 OK\\r\\nContent-Length: 6\\r\\n\\r\\nstolen"); });
    });
    server.on("error", () => setTimeout(take, 1)).listen(wanted, "127.0.0.1", () => { holds = true; taken = server; });
  };
  require("node:http").createServer((request, response) => {
    const [, verb, port] = request.url.split("/");
    if (verb === "take") { wanted = Number(port); take(); }
    if (verb === "drop") { wanted = 0; holds = false; taken?.close(); taken = null; }
    response.end(JSON.stringify({ holds, sent }));
  }).listen(process.env.PORT, "127.0.0.1");
'`;

/** Begins in a fraction of the time that an interpreter of JavaScript takes: there are hundreds of them. */
const VICTIM = `perl -MIO::Socket::INET -e '
  my $server = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $ENV{PORT}, Listen => 16, ReuseAddr => 1) or die;
  while (my $client = $server->accept) {
    while (<$client>) { last if /^\\r?$/ }
    print $client "HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\nConnection: close\\r\\n\\r\\nhello";
    close $client;
  }
'`;

function specOf(app: string, artifact: string, command: string): UnitSpec {
  const unit = { id: `${app}-unit`, app, name: `${app}/0`, process: 'web' };
  return { ...unit, artifact, command, env: {}, listens: true, limits: UNLIMITED };
}

async function start({ provisioner }: ProcessWorld, spec: UnitSpec): Promise<Target> {
  await provisioner.ensure(spec);
  const address = await provisioner.ready(spec.id, SERVES, NEVER);
  if (address === null) throw new Error('it does not listen');
  const process = provisioner.processOf(spec.id);
  return { unit: spec.id, ...address, ...(process !== null && { process }) };
}

it.for(SLOW ? (['bubblewrap', 'user', 'plain'] as const) : (['bubblewrap'] as const))(
  'gets none of them at the level %s',
  { timeout: 600_000 },
  async (name, { skip }) => {
    const level = await openLevel(name, 'shared');
    if (typeof level === 'string') return skip(level);
    const world = await createProcessWorld(level);
    const rig = await EdgeRig.start({ timeouts: { unreachedMs: 0 } });
    try {
      world.addSlug('slug2');
      const victim = specOf('blog', 'slug1', VICTIM);
      const control = await start(world, specOf('thief', 'slug2', STRANGER));
      const thief = async (order: string): Promise<{ holds: boolean; sent: number }> => {
        const answer = await fetch(`http://127.0.0.1:${control.port}/${order}`);
        return (await answer.json()) as { holds: boolean; sent: number };
      };
      for (let round = 1; round <= ROUNDS; round += 1) {
        const target = await start(world, victim);
        expect(target.process).toBeDefined();
        await rig.route(target);
        expect(await rig.exchange(GET)).toContain('hello');
        await thief(`take/${target.port}`);
        await world.killBehind(victim.id);
        // The edge has not been notified yet.
        const asking = [rig.exchange(GET), rig.exchange(GET)];
        await until(async () => (await thief('state')).holds, { what: 'the port to be taken' });
        asking.push(rig.exchange(GET), rig.exchange(GET));
        for (const answer of await Promise.all(asking)) expect(answer).toMatch(/^HTTP\/1\.1 502/);
        expect(await thief('drop')).toMatchObject({ sent: 0 });
        await world.provisioner.stop(victim.id, 0);
      }
    } finally {
      await rig.stop();
      await world.dispose();
      await level.dispose();
    }
  },
);
