import { afterEach, describe, expect, it } from 'vitest';
import { EdgeRig, type RigSettings } from '../../../test/support/edge-rig.ts';

let rig: EdgeRig | null = null;
afterEach(async () => {
  await rig?.stop();
  rig = null;
});

/** Starts an edge whose unit answers with the head it got; returns how to send bytes to it. */
async function start(settings: RigSettings): Promise<(bytes: string) => Promise<string>> {
  rig = await EdgeRig.start(settings);
  const unit = await rig.rawUnit((socket) => {
    socket.on('data', (chunk: Buffer) => {
      const head = chunk.toString('latin1');
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${head.length}\r\n\r\n${head}`, 'latin1');
    });
  });
  await rig.route(unit);
  return (bytes) => (rig as EdgeRig).exchange(bytes);
}

const request = (fields = ''): string => `GET / HTTP/1.1\r\nHost: blog.test\r\nConnection: close\r\n${fields}\r\n`;
const SAID =
  'X-Forwarded-For: 6.6.6.6, 203.0.113.7\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: shop.example.com\r\n' +
  'X-Request-Id: front-7\r\n';

describe('behind a trusted proxy', () => {
  it('units hear of the client, its scheme and host what the proxy says', async () => {
    const send = await start({ trustedProxies: ['127.0.0.0/8'] });
    const seen = await send(request(SAID));
    expect(seen).toContain('\r\nX-Forwarded-For: 203.0.113.7, 127.0.0.1\r\n');
    expect(seen).toContain('\r\nX-Forwarded-Proto: https\r\n');
    expect(seen).toContain('\r\nX-Forwarded-Host: shop.example.com\r\n');
    expect(seen).toContain('\r\nX-Forwarded-Port: 443\r\n');
    expect(seen).toContain('\r\nForwarded: for=203.0.113.7;proto=https;host="shop.example.com", for=127.0.0.1\r\n');
    expect(seen.match(/X-Request-Id: front-7\r\n/g)).toHaveLength(2);
    expect(seen).not.toContain('6.6.6.6');
    expect(seen.match(/^(?:x-forwarded-for|forwarded):/gim)).toHaveLength(2);
  });

  it('Forwarded is understood, and each request of a connection has an origin of its own', async () => {
    await start({ trustedProxies: ['127.0.0.1'] });
    const client = await (rig as EdgeRig).client();
    for (const address of ['203.0.113.7', '2001:db8::7']) {
      const node = address.includes(':') ? `"[${address}]"` : address;
      client.received = '';
      client.send(`GET / HTTP/1.1\r\nHost: blog.test\r\nForwarded: for=${node};proto=https\r\n\r\n`);
      const seen = await client.until(/X-Request-Id: [^\r]+\r\n\r\n$/);
      expect(seen).toContain(`\r\nX-Forwarded-For: ${address}, 127.0.0.1\r\nX-Forwarded-Proto: https\r\n`);
      expect(seen).toContain(`\r\nForwarded: for=${node};proto=https;host="blog.test", for=127.0.0.1\r\n`);
    }
  });

  it('nobody else is believed, and what the proxy forwards cannot forge a field', async () => {
    const send = await start({ trustedProxies: ['192.0.2.1'] });
    const seen = await send(request(`${SAID}Forwarded: for=6.6.6.6\r\n`));
    expect(seen).toContain('\r\nX-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\n');
    expect(seen).not.toMatch(/6\.6\.6\.6|203\.0\.113\.7|shop\.example\.com/);
    await rig?.stop();
    const trusting = await start({ trustedProxies: ['127.0.0.1'] });
    const forged = await trusting(
      request('X-Forwarded-Host: "evil"\r\nX-Forwarded-For: "for\r\nX-Forwarded-Port: 0\r\n'),
    );
    expect(forged).toContain('\r\nX-Forwarded-For: 127.0.0.1\r\n');
    expect(forged).toContain('\r\nX-Forwarded-Host: blog.test\r\n');
    expect(forged).not.toContain('evil');
  });
});

describe('with the PROXY protocol', () => {
  it('a connection is the one of whom the balancer speaks for', async () => {
    const send = await start({ trustedProxies: ['127.0.0.1'], proxyProtocol: true });
    const seen = await send(`PROXY TCP4 203.0.113.7 192.0.2.1 4711 8443\r\n${request(SAID)}`);
    expect(seen).toContain('\r\nX-Forwarded-For: 203.0.113.7\r\nX-Forwarded-Proto: http\r\n');
    expect(seen).toContain('\r\nX-Forwarded-Port: 8443\r\n');
    const client = await (rig as EdgeRig).client();
    for (const piece of ['PRO', 'XY UNKNOWN\r', `\n${request()}`]) {
      client.send(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await client.rest()).toContain('\r\nX-Forwarded-For: 127.0.0.1\r\n');
  });

  it('a trusted proxy behind the balancer is believed, too', async () => {
    const send = await start({ trustedProxies: ['127.0.0.1', '10.0.0.0/8'], proxyProtocol: true });
    const seen = await send(`PROXY TCP4 10.0.0.5 192.0.2.1 4711 8443\r\n${request(SAID)}`);
    expect(seen).toContain('\r\nX-Forwarded-For: 203.0.113.7, 10.0.0.5\r\nX-Forwarded-Proto: https\r\n');
  });

  it('is demanded of trusted proxies, and of nobody else', async () => {
    const send = await start({ trustedProxies: ['127.0.0.1'], proxyProtocol: true });
    expect(await send(request())).toMatch(/^HTTP\/1\.1 400 [^]*PROXY protocol/);
    await rig?.stop();
    const open = await start({ trustedProxies: ['192.0.2.1'], proxyProtocol: true });
    expect(await open(request())).toMatch(/^HTTP\/1\.1 200 /);
    expect(await open(`PROXY TCP4 203.0.113.7 192.0.2.1 1 2\r\n${request()}`)).toMatch(/^HTTP\/1\.1 400 /);
  });
});
