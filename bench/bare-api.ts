/** The floor of the API, a process of its own: node:http alone, the same bytes after the same look-up of a token. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Given {
  readonly token: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const given = JSON.parse(await text(process.stdin)) as Given;
const hashed = (token: string): string => createHash('sha256').update(token).digest('hex');
const body = Buffer.from(given.body);
const sessions = new Map([[hashed(given.token), { email: 'admin@example.com' }]]);

const server = createServer((request, response) => {
  const token = /^bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  if (!sessions.has(hashed(token))) {
    response.writeHead(401).end();
    return;
  }
  response.writeHead(200, { ...given.headers, 'content-length': body.length }).end(body);
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
