import { createHash, randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Target } from '../../domain/routes/router.ts';
import { EdgeRig } from '../../../test/support/edge-rig.ts';

const MB = 1_048_576;
const noise = randomBytes(3 * MB);

describe('streams', () => {
  let rig: EdgeRig;

  beforeAll(async () => {
    rig = await EdgeRig.start();
    const echo = await rig.httpUnit((request, response) => {
      const size = Number(new URL(request.url ?? '/', 'http://x').searchParams.get('size') ?? -1);
      if (request.method === 'GET' && size >= 0) {
        if (request.url?.includes('fixed') === true) response.setHeader('content-length', size);
        response.write(noise.subarray(0, Math.floor(size / 2)));
        response.end(noise.subarray(Math.floor(size / 2), size));
        return;
      }
      const length = request.headers['content-length'];
      if (length !== undefined) response.setHeader('content-length', length);
      request.pipe(response);
    });
    await rig.route(echo);
  });
  afterAll(() => rig.stop());

  interface Transfer {
    readonly path: string;
    readonly body?: Buffer;
    readonly chunked?: boolean;
    readonly slowly?: boolean;
  }

  const digestOf = ({ path, body, chunked = false, slowly = false }: Transfer): Promise<string> =>
    new Promise((resolve, reject) => {
      const headers: Record<string, string | number> = { host: 'blog.test' };
      if (body !== undefined && !chunked) headers['content-length'] = body.length;
      const method = body === undefined ? 'GET' : 'POST';
      const request = httpRequest({ port: rig.port, path, method, headers, agent: false }, (response) => {
        const hash = createHash('sha1');
        response.on('data', (part: Buffer) => {
          hash.update(part);
          if (!slowly) return;
          response.pause();
          setTimeout(() => response.resume(), 1);
        });
        response.on('error', reject);
        response.on('end', () => resolve(hash.digest('hex')));
      });
      request.on('error', reject);
      if (body === undefined) request.end();
      else {
        for (let at = 0; at < body.length; at += 50_000) request.write(body.subarray(at, at + 50_000));
        request.end();
      }
    });
  const digest = (bytes: Buffer): string => createHash('sha1').update(bytes).digest('hex');

  it('moves bodies of all sizes both ways, byte for byte', async () => {
    const transfers: Promise<void>[] = [];
    for (const size of [0, 1, 99, 8_192, 65_535, 65_536, 65_537, 200_000, MB, 3 * MB]) {
      const bytes = noise.subarray(0, size);
      const expected = digest(bytes);
      const cases: Transfer[] = [
        { path: `/fixed?size=${size}` },
        { path: `/chunked?size=${size}` },
        { path: `/chunked?size=${size}`, slowly: true },
        { path: '/echo', body: bytes },
        { path: '/echo', body: bytes, chunked: true },
        { path: '/echo', body: bytes, chunked: true, slowly: true },
      ];
      for (const one of cases)
        transfers.push(digestOf(one).then((found) => expect([one, found]).toEqual([one, expected])));
    }
    await Promise.all(transfers);
  });

  it('moves many bodies at the same time', async () => {
    const sizes = Array.from({ length: 40 }, (_, index) => 1_000 + index * 7_777);
    const found = await Promise.all(sizes.map((size) => digestOf({ path: '/echo', body: noise.subarray(0, size) })));
    expect(found).toEqual(sizes.map((size) => digest(noise.subarray(0, size))));
  });

  it('holds a fast unit back for a client that does not read', async () => {
    let sent = 0;
    const unit = await rig.httpUnit((_request, response) => {
      const more = (): void => {
        while (sent < 200 * MB && response.write(noise)) sent += noise.length;
      };
      response.on('drain', more);
      more();
    });
    await rig.route(unit);
    const client = await rig.client();
    client.socket.pause();
    client.send('GET / HTTP/1.1\r\nHost: blog.test\r\n\r\n');
    let before = -1;
    while (before !== sent) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(sent).toBeLessThan(60 * MB);
    client.socket.destroy();
  });

  it('passes events on as they come', async () => {
    let next = (): void => {};
    const unit = await rig.httpUnit((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      let count = 0;
      next = () => void response.write(`data: ${++count}\n\n`);
    });
    await rig.route(unit);
    const client = await rig.client();
    client.send('GET / HTTP/1.1\r\nHost: blog.test\r\n\r\n');
    await client.until(/\r\n\r\n$/);
    for (let count = 1; count <= 3; count++) {
      next();
      await client.until(new RegExp(`data: ${count}\n\n`));
    }
  });

  it('ends the unit’s work when the client is gone', async () => {
    let closed = (): void => {};
    const gone = new Promise<void>((resolve) => (closed = resolve));
    const unit = await rig.httpUnit((_request, response) => {
      response.flushHeaders();
      response.on('close', closed);
    });
    await rig.route(unit);
    const client = await rig.client();
    client.send('GET / HTTP/1.1\r\nHost: blog.test\r\n\r\n');
    await client.until(/200 OK/);
    client.socket.resetAndDestroy();
    await gone;
  });
});

describe('bodies that meet their answer', () => {
  let rig: EdgeRig;
  beforeAll(async () => {
    rig = await EdgeRig.start();
  });
  afterAll(() => rig.stop());

  const unitWith = async (listener: Parameters<EdgeRig['httpUnit']>[0]): Promise<Target> => {
    const unit = await rig.httpUnit(listener);
    await rig.route(unit);
    return unit;
  };

  it('passes 100 Continue on and then the body', async () => {
    await unitWith((request, response) => void request.pipe(response));
    const client = await rig.client();
    client.send('POST / HTTP/1.1\r\nHost: blog.test\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n');
    await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    client.send('hello');
    await client.until(/5\r\nhello\r\n0\r\n\r\n$/);
  });

  it('closes after a final answer to a client that still waits for 100 Continue', async () => {
    const unit = await rig.rawUnit((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n'));
    });
    await rig.route(unit);
    const answer = await rig.exchange(
      'POST / HTTP/1.1\r\nHost: blog.test\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 417 No\r\n[^]*Connection: close\r\n/);
  });

  it('answers while the upload still runs, goes on with the upload, and keeps the connection', async () => {
    let received = 0;
    await unitWith((request, response) => {
      if (request.method === 'GET') response.end(String(received));
      else {
        request.on('data', (part: Buffer) => (received += part.length));
        response.end('early');
      }
    });
    const client = await rig.client();
    client.send(`POST / HTTP/1.1\r\nHost: blog.test\r\nContent-Length: 200000\r\n\r\n${'x'.repeat(1_000)}`);
    await client.until(/early$/);
    client.send('x'.repeat(199_000));
    client.send('GET / HTTP/1.1\r\nHost: blog.test\r\nConnection: close\r\n\r\n');
    expect(await client.rest()).toMatch(/200000$/);
  });

  it('delivers an early answer of a unit that closes without reading the rest', async () => {
    const unit = await rig.rawUnit((socket) => {
      socket.once('data', () =>
        socket.end('HTTP/1.1 413 Too Big\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbig!'),
      );
    });
    await rig.route(unit);
    const client = await rig.client();
    client.send('POST / HTTP/1.1\r\nHost: blog.test\r\nContent-Length: 9000000\r\n\r\n');
    client.send('x'.repeat(100_000));
    expect(await client.rest()).toMatch(/^HTTP\/1\.1 413 Too Big\r\n[^]*big!$/);
  });

  it('refuses a chunked body that breaks its framing', async () => {
    await unitWith((request, response) => {
      request.resume();
      request.on('end', () => response.end('never'));
    });
    const start = 'POST / HTTP/1.1\r\nHost: blog.test\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect(await rig.exchange(`${start}5\r\nhelloX\r\n`)).toMatch(/^HTTP\/1\.1 400/);
    expect(await rig.exchange(`${start}5\r\nhello\r\nzz\r\n`)).toMatch(/^HTTP\/1\.1 400/);
  });

  it('cuts the client off when the unit dies in the middle of its answer, and counts it', async () => {
    const unit = await rig.rawUnit((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart');
        setTimeout(() => socket.resetAndDestroy(), 20);
      });
    });
    await rig.route(unit);
    const { failures } = await rig.plane.traffic('blog');
    expect(await rig.exchange('GET / HTTP/1.1\r\nHost: blog.test\r\n\r\n')).toMatch(/part$/);
    expect((await rig.plane.traffic('blog')).failures).toBe(failures + 1);
  });
});
