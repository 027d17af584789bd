/** Where units share the ports of the machine, no app keeps all of them from the others. */
import { createServer, type Server } from 'node:net';
import { expect, it } from 'vitest';
import { NEVER, SERVES, UNLIMITED } from '../conformance-suite.ts';
import type { UnitSpec } from '../../../domain/units/provisioner.ts';
import { until } from '../../../../test/support/until.ts';
import { createProcessWorld, openLevel, type ProcessWorld } from './provisioner-world.ts';

/** Of nobody else: the usual one begins behind it. */
const RANGE = { from: 19_700, to: 19_899 };
const GREEDY = `node -e '
  let listening = 0;
  const ready = () => { if (++listening === ${RANGE.to - RANGE.from + 1}) console.log("all taken"); };
  for (let port = ${RANGE.from}; port <= ${RANGE.to}; port += 1)
    require("node:net").createServer().on("error", ready).listen(port, ready);
'`;

function specOf(app: string, command: string, listens = true): UnitSpec {
  const unit = { id: `${app}-unit`, app, name: `${app}/0`, process: listens ? 'web' : 'worker' };
  return { ...unit, artifact: 'slug1', command, env: {}, listens, limits: UNLIMITED };
}

async function lines({ provisioner }: ProcessWorld, id: string): Promise<string> {
  return (await provisioner.lastLines(id, 20)).join('\n');
}

it('ends who holds more than a hundred of them when none is left, and says so in its output', async (context) => {
  const level = await openLevel('plain', 'shared');
  if (typeof level === 'string') return context.skip(level);
  const world = await createProcessWorld(level, {}, { portRange: RANGE });
  try {
    await world.provisioner.ensure(specOf('greedy', GREEDY, false));
    await until(async () => (await lines(world, 'greedy-unit')).includes('all taken'), {
      what: 'all ports to be taken',
    });
    const spec = specOf('shop', world.commands.serve);
    await world.provisioner.ensure(spec);
    const address = await world.provisioner.ready(spec.id, SERVES, NEVER);
    expect(address?.port).toBeGreaterThanOrEqual(RANGE.from);
    expect(address?.port).toBeLessThanOrEqual(RANGE.to);
    expect(await lines(world, 'greedy-unit')).toMatch(/ended this process: it listened on (?:1\d\d|200) of the ports/);
  } finally {
    await world.dispose();
    await level.dispose();
  }
});

it('a unit for which none is left fails with a cause of its own', async (context) => {
  const level = await openLevel('plain', 'shared');
  if (typeof level === 'string') return context.skip(level);
  const range = { from: 19_690, to: 19_692 };
  const world = await createProcessWorld(level, {}, { portRange: range });
  const servers: Server[] = [];
  try {
    for (let port = range.from; port <= range.to; port += 1) {
      const server = createServer();
      await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, resolve));
      servers.push(server);
    }
    await expect(world.provisioner.ensure(specOf('shop', world.commands.serve))).rejects.toMatchObject({
      code: 'no_port',
    });
  } finally {
    for (const server of servers) server.close();
    await world.dispose();
    await level.dispose();
  }
});
