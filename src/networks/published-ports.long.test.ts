/** Ports of the machine that it passes on to somebody else, as engines for containers do with those that they publish. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startNetworkApp } from '../../test/support/network-apps.ts';
import { skipFor } from '../../test/support/skips.ts';
import { findProgram } from '../lib/find-program.ts';
import { runTool } from '../lib/tools/run-tool.ts';
import { probeSandbox } from '../sandbox/probe.ts';

const home = mkdtempSync(join(tmpdir(), 'tancho-published-'));
chmodSync(home, 0o711);
const sandbox = await probeSandbox({ stateDir: join(home, 'state'), home, level: 'auto' });
const isRoot = process.geteuid?.() === 0;
afterAll(async () => {
  await sandbox.close();
  rmSync(home, { recursive: true, force: true });
});

const PORT = 5432;
const name = `published-${process.pid}`;
const link = `pub${process.pid % 1e7}`;
const block = (process.pid % 60) * 4;
/** Of the machine, not private; and of the container behind it. */
const PUBLIC = `198.51.100.${block + 1}`;
const [NEAR, BEHIND] = [`172.31.255.${block + 1}`, `172.31.255.${block + 2}`];

/** What the function finds while something answers at BEHIND, and the machine passes a port of PUBLIC on to it. */
async function whilePublished<T>(find: () => Promise<T>): Promise<T> {
  const [ip, nft, nsenter] = ['ip', 'nft', 'nsenter'].map((program) => findProgram(program) ?? '');
  const inside = [nsenter ?? '', `--net=/run/netns/${name}`, '--'];
  const here = (...args: string[]): Promise<string> => runTool([ip ?? '', ...args]);
  const there = (...args: string[]): Promise<string> => runTool([...inside, ip ?? '', ...args]);
  await here('netns', 'add', name);
  try {
    await here('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    for (const address of [`${PUBLIC}/32`, `${NEAR}/30`]) await here('addr', 'add', address, 'dev', link);
    writeFileSync(`/proc/sys/net/ipv4/conf/${link}/forwarding`, '1');
    await here('link', 'set', link, 'up');
    await there('addr', 'add', `${BEHIND}/30`, 'dev', 'eth0');
    await there('link', 'set', 'eth0', 'up');
    const published = `ip daddr ${PUBLIC} tcp dport ${PORT} dnat to ${BEHIND}:80`;
    const hook = 'type nat hook prerouting priority dstnat;';
    await runTool([nft ?? '', '-f', '-'], `table ip ${link} {\n chain published {\n ${hook}\n ${published}\n }\n}\n`);
    const [file = '', ...args] = inside;
    const server = `require('node:net').createServer((socket) => socket.end('here')).listen(80, () => console.log('up'))`;
    const child = spawn(file, [...args, process.execPath, '-e', server], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await once(child.stdout, 'data');
      return await find();
    } finally {
      child.kill();
      await once(child, 'exit');
    }
  } finally {
    await runTool([nft ?? '', 'delete', 'table', 'ip', link]).catch(() => undefined);
    await here('netns', 'del', name);
  }
}

it(
  'are reached by the app that is bound to them, and by no other',
  skipFor((!sandbox.networks && sandbox.description) || (!isRoot && 'only root has such ports')),
  async () => {
    const [bound, other] = await Promise.all([
      startNetworkApp(sandbox, {
        home,
        id: 'bound1',
        tenant: 'bound',
        services: [{ address: PUBLIC, port: PORT }],
      }),
      startNetworkApp(sandbox, { home, id: 'other1', tenant: 'other' }),
    ]);
    try {
      const found = await whilePublished(() => Promise.all([bound, other].map((app) => app.to('tcp', PUBLIC, PORT))));
      expect(found).toEqual(['reached', expect.not.stringMatching(/reached|silence/)]);
    } finally {
      await Promise.all([bound.end(), other.end()]);
    }
  },
);
