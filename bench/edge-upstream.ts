/** A unit that costs as little as node:http can: answers 100 bytes, or 64 KB for /large. Prints its port. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const SMALL = Buffer.alloc(100, 'a');
const LARGE = Buffer.alloc(65_536, 'b');

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const body = request.url === '/large' ? LARGE : SMALL;
  response.writeHead(200, { 'content-length': body.length });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
