import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EdgeRig } from '../../../test/support/edge-rig.ts';

/** Request heads as the unit got them, newest last. */
const seen: string[] = [];

/** What the raw unit answers, by path. */
const ANSWERS: Readonly<Record<string, string>> = {
  '/hops':
    'HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Mine\r\nX-Mine: 1\r\nKeep-Alive: timeout=5\r\nX-Yours: 2\r\n' +
    'X-Request-Id: forged\r\nContent-Length: 2\r\n\r\nok',
  '/until-close': 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it',
  '/chunked': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n',
  '/no-content': 'HTTP/1.1 204 No Content\r\n\r\n',
  '/not-modified': 'HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\nETag: "x"\r\n\r\n',
  '/no-length': 'HTTP/1.1 204 No Content\r\nContent-Length: 7\r\n\r\n',
  '/no-chunks': 'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n',
  '/head': 'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n',
  '/old': 'HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nfrom 1996',
  '/hints': 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  '/framed-hints':
    'HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n' +
    'HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  '/both': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  '/excess': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged',
  '/long': `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(60_000)}\r\nContent-Length: 2\r\n\r\nok`,
  '/not-http': 'SSH-2.0-nothing\r\n\r\n',
  '/unasked': 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
};

describe('forwarding', () => {
  let rig: EdgeRig;

  beforeAll(async () => {
    rig = await EdgeRig.start();
    const unit = await rig.rawUnit((socket) => {
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
        for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
          const head = text.slice(0, end);
          seen.push(head);
          text = text.slice(end + 4);
          const path = head.split(' ')[1] ?? '';
          const answer = ANSWERS[path] ?? `HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}`;
          socket.write(answer, 'latin1');
          if (path === '/until-close' || path === '/old') socket.end();
        }
      });
      socket.on('end', () => socket.end());
    });
    await rig.route(unit);
  });
  afterAll(() => rig.stop());

  const ask = (path: string, more = '', start = 'GET'): Promise<string> =>
    rig.exchange(`${start} ${path} HTTP/1.1\r\nHost: blog.test\r\nConnection: close\r\n${more}\r\n`);

  it('replaces what only the edge may say and keeps the rest as it came', async () => {
    await ask(
      '/x?y=z',
      'X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: https\r\nX_Forwarded_Host: evil\r\nForwarded: for=6.6.6.6\r\n' +
        'X-Real-IP: 6.6.6.6\r\nProxy: evil\r\nX-Request-Id: abc-1\r\nX-CaSe: Kept  as is\r\nCookie: a=b\r\n',
    );
    expect(seen.at(-1)?.split('\r\n')).toEqual([
      'GET /x?y=z HTTP/1.1',
      'Host: blog.test',
      'X-CaSe: Kept  as is',
      'Cookie: a=b',
      'X-Forwarded-For: 127.0.0.1',
      'X-Forwarded-Proto: http',
      'Forwarded: for=127.0.0.1;proto=http;host="blog.test"',
      'X-Forwarded-Host: blog.test',
      `X-Forwarded-Port: ${rig.port}`,
      'X-Request-Id: abc-1',
    ]);
  });

  it('takes hop-by-hop fields out, also those that Connection names, but never the framing or the host', async () => {
    await rig.exchange(
      'POST /x HTTP/1.1\r\nHost: blog.test\r\nConnection: close, X-Secret, Content-Length, Host\r\nX-Secret: 1\r\n' +
        'TE: trailers\r\nKeep-Alive: 1\r\nProxy-Connection: a\r\nContent-Length: 0\r\n\r\n',
    );
    const head = seen.at(-1) ?? '';
    expect(head).toContain('Host: blog.test');
    expect(head).toContain('Content-Length: 0');
    expect(head).not.toMatch(/secret|keep-alive|proxy-connection|^te:/im);
  });

  it('cleans the answer the same way and gives the request id back', async () => {
    const answer = await ask('/hops', 'X-Request-Id: mine\r\n');
    expect(answer).toContain('X-Yours: 2');
    expect(answer).toContain('X-Request-Id: mine');
    expect(answer).not.toMatch(/x-mine|keep-alive|forged/i);
    expect(await ask('/a', `X-Request-Id: ${'x'.repeat(200)}\r\n`)).toMatch(/X-Request-Id: [0-9a-f-]{36}\r\n/);
  });

  it('answers pipelined requests in order on one connection', async () => {
    const client = await rig.client();
    client.send(['/1', '/22', '/333'].map((path) => `GET ${path} HTTP/1.1\r\nHost: blog.test\r\n\r\n`).join(''));
    client.send('GET /last HTTP/1.1\r\nHost: blog.test\r\nConnection: close\r\n\r\n');
    const bodies = (await client.rest()).split(/HTTP\/1\.1 200 OK\r\n/).map((part) => part.split('\r\n\r\n')[1]);
    expect(bodies.slice(1)).toEqual(['/1', '/22', '/333', '/last']);
  });

  it('answers all pipelined requests of a client that sends nothing more, and then ends', async () => {
    const client = await rig.client();
    client.send(['/1', '/22', '/333'].map((path) => `GET ${path} HTTP/1.1\r\nHost: blog.test\r\n\r\n`).join(''));
    client.socket.end();
    const bodies = (await client.rest()).split(/HTTP\/1\.1 200 OK\r\n/).map((part) => part.split('\r\n\r\n')[1]);
    expect(bodies.slice(1)).toEqual(['/1', '/22', '/333']);
  });

  it('answers a thousand pipelined requests for hosts it does not know', async () => {
    const client = await rig.client();
    client.send('GET / HTTP/1.1\r\nHost: nobody.test\r\n\r\n'.repeat(1_000));
    client.send('GET / HTTP/1.1\r\nHost: nobody.test\r\nConnection: close\r\n\r\n');
    expect((await client.rest()).match(/HTTP\/1\.1 404/g)).toHaveLength(1_001);
  });

  it.each([
    ['/no-content', 'GET', 'HTTP/1.1 204 No Content'],
    ['/not-modified', 'GET', 'HTTP/1.1 304 Not Modified'],
    ['/head', 'HEAD', 'HTTP/1.1 200 OK'],
  ])('knows that %s to %s has no body', async (path, method, status) => {
    const client = await rig.client();
    client.send(`${method} ${path} HTTP/1.1\r\nHost: blog.test\r\n\r\n`);
    await client.until(/\r\n\r\n$/);
    client.send('GET /next HTTP/1.1\r\nHost: blog.test\r\nConnection: close\r\n\r\n');
    const all = await client.rest();
    expect(all).toMatch(new RegExp(`^${status}\r\n`));
    expect(all).toMatch(/\r\n\r\nHTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n\/next$/);
  });

  it('drops the framing of a body from answers that have none', async () => {
    for (const path of ['/no-length', '/no-chunks', '/not-modified']) {
      const answer = await ask(path);
      expect(answer).toMatch(/^HTTP\/1\.1 (?:204|304) [^]*\r\n\r\n$/);
      expect(answer).not.toMatch(/content-length|transfer-encoding/i);
    }
    expect(await ask('/framed-hints')).toMatch(
      /^(?:HTTP\/1\.1 103 Early Hints\r\n\r\n){2}HTTP\/1\.1 200 OK\r\nContent-Length: 2\r\n/,
    );
    expect(await ask('/head', '', 'HEAD')).toContain('Content-Length: 7');
  });

  it('answers what was sent before the end of the stream', async () => {
    const client = await rig.client();
    const paths = ['/1', '/22', '/333'];
    client.socket.end(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: blog.test\r\n\r\n`).join(''));
    const answered = (await client.rest()).match(/\r\n\r\n\/[0-9]+/g);
    expect(answered).toEqual(paths.map((path) => `\r\n\r\n${path}`));
  });

  it('turns a body that ends with the connection into chunks, and into bare bytes for HTTP/1.0', async () => {
    expect(await ask('/until-close')).toMatch(/Transfer-Encoding: chunked\r\n[^]*\r\n\r\n9\r\nall of it\r\n0\r\n\r\n$/);
    expect(await ask('/old')).toMatch(/\r\n\r\n9\r\nfrom 1996\r\n0\r\n\r\n$/);
    const old = await rig.exchange('GET /until-close HTTP/1.0\r\nHost: blog.test\r\n\r\n');
    expect(old).toMatch(/Connection: close\r\n\r\nall of it$/);
    expect(old).not.toContain('chunked');
  });

  it('passes chunks on without their extensions, and unwraps them for HTTP/1.0', async () => {
    expect(await ask('/chunked')).toMatch(/\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n$/);
    const old = await rig.exchange('GET /chunked HTTP/1.0\r\nHost: blog.test\r\nConnection: keep-alive\r\n\r\n');
    expect(old).toMatch(/Connection: close\r\n\r\nabcde$/);
    expect(old).not.toContain('chunked');
  });

  it('keeps an HTTP/1.0 connection that asks for it', async () => {
    const client = await rig.client();
    client.send('GET /a HTTP/1.0\r\nHost: blog.test\r\nConnection: keep-alive\r\n\r\n');
    expect(await client.until(/\/a$/)).toContain('Connection: keep-alive');
    client.send('GET /b HTTP/1.0\r\nHost: blog.test\r\n\r\n');
    expect(await client.rest()).toMatch(/\/b$/);
  });

  it('passes early hints on', async () => {
    expect(await ask('/hints')).toMatch(/^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a\.css>\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  });

  it.each([
    ['/both', 'not valid HTTP. '],
    ['/not-http', 'The status line is malformed.'],
    ['/long', 'The head is longer than 32768 bytes.'],
    ['/unasked', ''],
  ])('answers 502 for the answer %s, and why', async (path, why) => {
    const answer = await ask(path);
    expect(answer).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n/);
    expect(answer).toContain('app: blog');
    expect(answer).toContain(why);
  });

  it('never gives the next request what a unit sent too much', async () => {
    const client = await rig.client();
    client.send('GET /excess HTTP/1.1\r\nHost: blog.test\r\n\r\n');
    await client.until(/ok$/);
    client.send('GET /next HTTP/1.1\r\nHost: blog.test\r\nConnection: close\r\n\r\n');
    const all = await client.rest();
    expect(all).toMatch(/\/next$/);
    expect(all).not.toContain('forged');
  });

  it('refuses bad requests in words and closes', async () => {
    const answer = await rig.exchange(
      'POST / HTTP/1.1\r\nHost: blog.test\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toContain('Connection: close');
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(seen.some((head) => head.includes('smuggled'))).toBe(false);
    expect(await rig.exchange(`GET / HTTP/1.1\r\nHost: blog.test\r\nA: ${'b'.repeat(40_000)}`)).toMatch(
      /^HTTP\/1\.1 431/,
    );
  });

  it('answers in HTML to a browser, with everything escaped', async () => {
    await rig.apply({
      routes: [{ app: 'idle', hosts: ['idle.test'], targets: [], note: 'Not <b>yet</b>.', https: 'redirect' }],
    });
    const answer = await rig.exchange(
      'GET / HTTP/1.1\r\nHost: idle.test\r\nAccept: text/html,*/*\r\nConnection: close\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 503 [^]*Content-Type: text\/html[^]*Retry-After: 5\r\n/);
    expect(answer).toContain('Not &lt;b&gt;yet&lt;/b&gt;.');
    const head = await rig.exchange('HEAD / HTTP/1.1\r\nHost: idle.test\r\nConnection: close\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 503 [^]*\r\n\r\n$/);
  });
});
