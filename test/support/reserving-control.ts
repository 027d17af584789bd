/**
 * Run as a program: a control with one port, which answers with its pid. Arguments: home, and the port; `old` in place of it is a version that knows
 * nothing of ports that are kept. Prints `kept` or `bound` once it answers.
 */
import { createServer } from 'node:net';
import { join } from 'node:path';
import { reclaimPorts } from '../../src/daemon/reserved-ports/reclaim.ts';
import { ReservedPorts } from '../../src/daemon/reserved-ports/reserved-ports.ts';
import { descriptorOf, listeningAt } from '../../src/lib/listening.ts';
import { writePidFile } from '../../src/lib/pid-file.ts';

const [, , home = '', port = ''] = process.argv;
const logger = { debug() {}, info() {}, warn: console.error, error: console.error };

if (port !== 'old') reclaimPorts(home);
await writePidFile(join(home, 'run', 'control.pid'));
if (port !== 'old') {
  const place = { host: '127.0.0.1', port: Number(port) };
  const ports = await ReservedPorts.open({ home, logger, wanted: { api: place } });
  const server = createServer((socket) => {
    socket.on('error', () => undefined).end(`control ${process.pid}`);
  });
  await listeningAt(server, { ...place, fd: ports.descriptor('api', place) });
  await ports.hold({ api: { ...place, descriptor: descriptorOf(server) } });
  process.stdout.write(ports.wereKept ? 'kept\n' : 'bound\n');
}
setInterval(() => undefined, 60_000);
