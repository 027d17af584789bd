import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { openShell } from './shell.ts';

it('reaches a socket whose path has blanks, letters beyond ASCII and a colon', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tancho-shell-'));
  const socketPath = join(folder, 'Meine Daten ü:1', 'api.sock');
  mkdirSync(join(folder, 'Meine Daten ü:1'));
  const http = createServer();
  const asked: string[] = [];
  new WebSocketServer({ server: http }).on('connection', (socket, request) => {
    asked.push(`${request.url ?? ''} ${request.headers.host ?? ''}`);
    socket.send(Buffer.from('hello'));
    socket.close(1000, 'exit 3');
  });
  await new Promise<void>((resolve) => http.listen(socketPath, resolve));
  try {
    let said = '';
    const shell = await openShell({ socketPath }, undefined, 'shop', {
      output: (bytes) => (said += Buffer.from(bytes)),
    });
    expect(await shell.ended).toBe(3);
    expect({ said, asked }).toEqual({ said: 'hello', asked: ['/apps/shop/shell?terminal=false localhost'] });
  } finally {
    await new Promise((resolve) => http.close(resolve));
    rmSync(folder, { recursive: true });
  }
});

it('ends when nothing is heard of the server any more', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const options = { output: () => undefined, silentMs: 3_000 };
  const shell = await openShell({ baseUrl: `http://127.0.0.1:${port}` }, undefined, 'shop', options);
  await expect(shell.ended).rejects.toMatchObject({ code: 'client.unreachable' });
  await new Promise((resolve) => server.close(resolve));
});
