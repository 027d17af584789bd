import { once } from 'node:events';
import { connect as connectTcp, createServer, type AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { expect, it } from 'vitest';
import { HELLO_BAD, HELLO_MORE, parseClientHello } from './client-hello.ts';

/** What a TLS client really sends first. */
async function greeting(options: { servername?: string; ALPNProtocols?: string[] }): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', ...options });
  client.on('error', () => {});
  const [socket] = (await once(server, 'connection')) as [ReturnType<typeof connectTcp>];
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  client.destroy();
  server.close();
  return bytes;
}

/** The same handshake message in records of at most `size` bytes. */
function inRecords(hello: Buffer, size: number): Buffer {
  const message = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(records);
}

it('reads the name of the server and the protocols from the greeting of a real client', async () => {
  const bytes = await greeting({ servername: 'Blog.Test', ALPNProtocols: ['h2', 'http/1.1'] });
  expect(parseClientHello(bytes)).toEqual({ serverName: 'blog.test', protocols: ['h2', 'http/1.1'] });
  expect(parseClientHello(await greeting({}))).toEqual({ serverName: null, protocols: [] });
});

it('waits for the rest wherever the greeting is cut, and reads it from any number of records', async () => {
  const bytes = await greeting({ servername: 'blog.test', ALPNProtocols: ['http/1.1'] });
  for (let size = 0; size < bytes.length; size++)
    expect(parseClientHello(bytes.subarray(0, size)), `the first ${size} bytes`).toBe(HELLO_MORE);
  for (const size of [1, 2, 3, 7, 100])
    expect(parseClientHello(inRecords(bytes, size))).toEqual({ serverName: 'blog.test', protocols: ['http/1.1'] });
});

it('takes nothing else for a greeting', async () => {
  const bytes = await greeting({ servername: 'blog.test' });
  const changed = (at: number, octet: number): Buffer => {
    const copy = Buffer.from(bytes);
    copy[at] = octet;
    return copy;
  };
  const empty = Buffer.from([22, 3, 1, 0, 0]);
  // Another kind of record, of message, of version; a session id, and a list of ciphers, longer than all that follows.
  for (const bad of [
    Buffer.from('GET / HTTP/1.1\r\n'),
    changed(0, 23),
    changed(5, 2),
    changed(1, 2),
    changed(43, 255),
    empty,
  ])
    expect(parseClientHello(bad)).toBe(HELLO_BAD);
});

it('never throws, whatever comes', async () => {
  const bytes = await greeting({ servername: 'blog.test', ALPNProtocols: ['h2'] });
  for (let at = 0; at < bytes.length; at++) {
    for (const octet of [0, 1, 127, 255]) {
      const copy = Buffer.from(bytes);
      copy[at] = octet;
      const hello = parseClientHello(copy);
      if (typeof hello === 'object') expect(hello.serverName ?? '').toMatch(/^[a-z0-9_.-]*$/);
      else expect([HELLO_BAD, HELLO_MORE]).toContain(hello);
    }
  }
});
