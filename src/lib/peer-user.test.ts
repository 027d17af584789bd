import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { peerUser, userIn } from './peer-user.ts';

const isRoot = process.getuid?.() === 0;
const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 11 1
   1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000 70001        0 12 1
   2: 0100007F:C351 0100007F:1F90 05 00000000:00000000 00:00000000 00000000     0        0 0 1
   3: 0100007F:C354 0100007F:1F90 05 00000000:00000000 00:00000000 00000000 70002        0 13 1
   4: 0000000000000000FFFF00000100007F:C352 0000000000000000FFFF00000100007F:1F90 01 0:0 0:0 0 70003 0 14 1
   5: 00000000000000000000000001000000:C353 00000000000000000000000001000000:1F90 01 0:0 0:0 0 70004 0 15 1
   6: 0100007F:C355 0200007F:1F90 01 00000000:00000000 00:00000000 00000000 70005        0 16 1
   7: 0100007F:C355 0100007F:1F90 01 00000000:00000000 00:00000000 00000000 70006        0 17 1
`;

it.each([
  ['127.0.0.1', 50_000, 70_001],
  ['::ffff:127.0.0.1', 50_000, 70_001],
  // Closed: it belongs to nobody.
  ['127.0.0.1', 50_001, null],
  // Half closed, by who still waits for the answer.
  ['127.0.0.1', 50_004, 70_002],
  ['127.0.0.1', 50_002, 70_003],
  ['::1', 50_003, 70_004],
  ['10.0.0.1', 50_000, null],
])('finds in the table whose connection %s port %i is', (remoteAddress, remotePort, uid) => {
  expect(userIn(TABLE, { localPort: 8080, remoteAddress, remotePort })).toBe(uid);
});

it('tells apart two connections from one port to two addresses of this machine', () => {
  const ends = { localPort: 8080, remoteAddress: '127.0.0.1', remotePort: 50_005 };
  expect(userIn(TABLE, { ...ends, localAddress: '127.0.0.2' })).toBe(70_005);
  expect(userIn(TABLE, { ...ends, localAddress: '::ffff:127.0.0.1' })).toBe(70_006);
  expect(userIn(TABLE, { ...ends, localAddress: '127.0.0.3' })).toBe(null);
});

it.each(['127.0.0.1', '::1'])(
  'finds the user of a real process that connects to %s and sends no more',
  async (host) => {
    const server = createServer({ allowHalfOpen: true }).listen(0, host);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const code = 'const socket = require("net").connect(process.argv[1], process.argv[2]); socket.end();';
    const child = spawn(process.execPath, ['-e', code, `${port}`, host], {
      ...(isRoot && { uid: 65_534, gid: 65_534 }),
      stdio: 'ignore',
    });
    try {
      const [socket] = (await once(server, 'connection')) as [Socket];
      await once(socket.resume(), 'end');
      expect(await peerUser(socket)).toBe(isRoot ? 65_534 : process.getuid?.());
      const { localPort, remoteAddress, remotePort } = socket;
      const reset = once(child, 'exit');
      child.kill('SIGKILL');
      await reset;
      expect(await peerUser({ localPort, remoteAddress, remotePort })).toBe('gone');
      socket.destroy();
    } finally {
      child.kill('SIGKILL');
      server.close();
    }
  },
);
