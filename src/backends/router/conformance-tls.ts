/** What every router with a TLS listener must do, whatever it is made of. Run by each implementation's test file. */
import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipFor } from '../../../test/support/skips.ts';
import { testCertificate, type TestCertificate } from '../../../test/support/test-certificates.ts';
import { until } from '../../../test/support/until.ts';
import type { CertificateSet, Route, Router, Target } from '../../domain/routes/router.ts';
import type { RouterUnderTest } from './conformance.ts';

const PATIENCE_MS = 60_000;
/** How many cases the suite has; a suite that loses some fails. */
const CASES = 10;

interface TlsAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

function portOf(listen: string | null): number {
  return Number(listen?.slice(listen.lastIndexOf(':') + 1));
}

/** Resolves once the handshake is done; rejects with the reason why there is none. */
function handshake(port: number, servername: string, protocols = ['http/1.1']): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      ...{ host: '127.0.0.1', port, servername, ALPNProtocols: protocols, rejectUnauthorized: false },
      timeout: PATIENCE_MS,
    });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('timeout', () => socket.destroy(new Error('no handshake in time')));
    socket.once('error', reject);
  });
}

/** One GET on a connection of its own, over TLS when `socket` is given. */
function ask(port: number, host: string, path = '/', socket?: TLSSocket): Promise<TlsAnswer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        ...{ host: '127.0.0.1', port, path, headers: { host }, timeout: PATIENCE_MS },
        ...(socket === undefined ? { agent: false } : { createConnection: () => socket }),
      },
      (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (part: string) => (body += part));
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
      },
    );
    request.on('timeout', () => request.destroy(new Error('no answer in time')));
    request.on('error', reject);
    request.end();
  });
}

/** Null for `create`: the implementation has no TLS listener, for the reason given. */
export function tlsConformance(
  name: string,
  create: { readonly start: () => Promise<RouterUnderTest> } | { readonly skip: string },
): void {
  if ('skip' in create) {
    it(`router conformance over TLS: ${name}`, skipFor(create.skip), () => {});
    return;
  }
  describe(`router conformance over TLS: ${name}`, () => {
    let ran = 0;
    let version = 0;
    let dispose = (): Promise<void> => Promise.resolve();
    let router: Router;
    let made: Record<'blog' | 'wild' | 'newer', TestCertificate>;
    let target: Target;
    const unit: Server = createServer((request, response) => {
      response.end(`${request.headers.host ?? ''} ${String(request.headers['x-forwarded-proto'])}`);
    });

    const route = (over: Partial<Route> = {}): Route => ({
      ...{ app: 'blog', hosts: ['blog.test'], targets: [target], note: '', https: 'redirect' },
      ...over,
    });
    const present = (set: Partial<CertificateSet>): Promise<void> =>
      router.applyCertificates({
        ...{ version: set.version ?? ++version, certificates: [], httpChallenges: [], alpnChallenges: [] },
        ...set,
      });
    const certificate = (id: keyof typeof made, ...names: string[]): CertificateSet['certificates'][number] => ({
      ...{ id, names },
      ...made[id],
    });
    const blog = (): CertificateSet['certificates'][number] => certificate('blog', 'blog.test');
    const namesShown = async (servername: string): Promise<string | undefined> => {
      const socket = await handshake(portOf(router.tlsListen), servername);
      const { subjectaltname } = socket.getPeerCertificate();
      socket.destroy();
      return subjectaltname;
    };
    const get = async (host: string): Promise<TlsAnswer> => {
      const port = portOf(router.tlsListen);
      return ask(port, host, '/', await handshake(port, host));
    };
    const theCase = (title: string, run: () => Promise<void>): void => {
      it(title, async () => {
        ran++;
        await run();
      });
    };

    beforeAll(async () => {
      const tested = await create.start();
      router = tested.router;
      dispose = () => tested.dispose();
      const [one, wild, newer] = await Promise.all([
        testCertificate('blog.test'),
        testCertificate('*.wild.test'),
        testCertificate('blog.test', 'newer.test'),
      ]);
      made = { blog: one, wild, newer };
      await new Promise<void>((resolve) => unit.listen(0, '127.0.0.1', resolve));
      target = { unit: 'u1', host: '127.0.0.1', port: (unit.address() as AddressInfo).port };
    });
    afterAll(async () => {
      await dispose();
      unit.closeAllConnections();
      await new Promise((resolve) => unit.close(resolve));
    });

    theCase('serves apps at an address of its own, and says that it was TLS', async () => {
      await router.apply({ version: 1, routes: [route()] });
      await present({ certificates: [blog()] });
      expect(router.tlsListen).toMatch(/^.+:[1-9][0-9]*$/);
      expect(await get('blog.test')).toMatchObject({ status: 200, body: 'blog.test https' });
    });

    theCase('presents the certificate of the name asked for, exact names before wildcards', async () => {
      await present({ certificates: [certificate('wild', '*.wild.test'), certificate('blog', 'one.wild.test')] });
      expect(await namesShown('any.wild.test')).toBe('DNS:*.wild.test');
      expect(await namesShown('one.wild.test')).toBe('DNS:blog.test');
      expect(await namesShown('ANY.Wild.test')).toBe('DNS:*.wild.test');
      await expect(namesShown('a.b.wild.test')).rejects.toThrow();
    });

    theCase('refuses a name without a certificate by the alert for it, and goes on serving the others', async () => {
      await present({ certificates: [blog()] });
      const open = await handshake(portOf(router.tlsListen), 'blog.test');
      await expect(handshake(portOf(router.tlsListen), 'unknown.test')).rejects.toThrow(/unrecognized.name/);
      await expect(handshake(portOf(router.tlsListen), '')).rejects.toThrow(/unrecognized.name/);
      expect((await ask(0, 'blog.test', '/', open)).body).toBe('blog.test https');
    });

    theCase('passes over a certificate that cannot be used, says so, and goes on with the others', async () => {
      const broken = { id: 'broken', names: ['broken.test', 'blog.test'], chain: made.blog.chain, key: made.wild.key };
      const noPem = { id: 'no-pem', names: ['no-pem.test'], chain: 'nothing', key: 'nothing' };
      await present({ certificates: [broken, noPem, blog()] });
      const { ids, unusable } = await router.certificates();
      expect(ids).toEqual(['blog']);
      expect(unusable.map(({ id }) => id)).toEqual(['broken', 'no-pem']);
      for (const { problem } of unusable) expect(problem).not.toBe('');
      expect((await get('blog.test')).body).toBe('blog.test https');
      await expect(namesShown('broken.test')).rejects.toThrow(/unrecognized.name/);
    });

    theCase('presents a newer certificate to new connections and leaves those there are alone', async () => {
      await present({ certificates: [blog()] });
      const open = await handshake(portOf(router.tlsListen), 'blog.test');
      await present({ certificates: [certificate('newer', 'blog.test')] });
      expect(await namesShown('blog.test')).toContain('DNS:newer.test');
      expect((await ask(0, 'blog.test', '/', open)).body).toBe('blog.test https');
    });

    theCase('ignores an older set, takes the same one twice, and reports the one in force', async () => {
      await present({ certificates: [blog()] });
      const newest = { version: ++version, certificates: [certificate('newer', 'blog.test')] };
      await present(newest);
      await present(newest);
      await present({ version: version - 1, certificates: [] });
      expect(await router.certificates()).toEqual({ version, ids: ['newer'], unusable: [] });
      expect(await namesShown('blog.test')).toContain('DNS:newer.test');
    });

    theCase('sends plain HTTP to HTTPS where the route says so and there is a certificate', async () => {
      const both = route({ app: 'both', hosts: ['both.test'], https: 'both' });
      const bare = route({ app: 'bare', hosts: ['bare.test'] });
      await router.apply({ version: 2, routes: [route(), both, bare] });
      await present({ certificates: [certificate('blog', 'blog.test', 'both.test')] });
      const plain = portOf(router.listen);
      const sent = await ask(plain, 'blog.test', '/a?b=c');
      expect(sent.status).toBe(308);
      expect(sent.headers.location).toBe(`https://blog.test:${portOf(router.tlsListen)}/a?b=c`);
      for (const host of ['both.test', 'bare.test'])
        expect(await ask(plain, host)).toMatchObject({ status: 200, body: `${host} http` });
    });

    theCase('counts and logs who is sent to HTTPS as a request to the app, and no challenge', async () => {
      await router.apply({ version: 3, routes: [route({ rules: { accessLog: true } })] });
      const challenge = { host: 'blog.test', token: 'tok-0', answer: 'tok-0.print' };
      await present({ certificates: [blog()], httpChallenges: [challenge] });
      await router.takeAccessLog();
      const { requests } = await router.traffic('blog');
      const plain = portOf(router.listen);
      await ask(plain, 'blog.test', '/.well-known/acme-challenge/tok-0');
      await ask(plain, 'blog.test', '/a?b=c');
      const lines: string[] = [];
      await until(
        async () => {
          lines.push(...(await router.takeAccessLog()).map(({ app, line }) => `${app} ${line}`));
          return lines.length > 0;
        },
        { what: 'the line of the redirect' },
      );
      expect(lines).toEqual([expect.stringMatching(/^blog method=GET path="\/a\?b=c" .*status=308/)]);
      await until(async () => (await router.traffic('blog')).requests === requests + 1, { what: 'the count' });
      await router.apply({ version: 4, routes: [route()] });
    });

    theCase('answers the challenges of authorities on plain HTTP, before routes and redirects', async () => {
      const httpChallenges = [
        { host: 'blog.test', token: 'tok-1', answer: 'tok-1.print' },
        { host: 'unrouted.test', token: 'tok-2', answer: 'tok-2.print' },
      ];
      await present({ certificates: [blog()], httpChallenges });
      const plain = portOf(router.listen);
      const at = (host: string, token: string): Promise<TlsAnswer> =>
        ask(plain, host, `/.well-known/acme-challenge/${token}`);
      expect(await at('blog.test', 'tok-1')).toMatchObject({ status: 200, body: 'tok-1.print' });
      expect(await at('unrouted.test', 'tok-2')).toMatchObject({ status: 200, body: 'tok-2.print' });
      expect((await at('blog.test', 'tok-2')).status).not.toBe(200);
      await present({ certificates: [blog()] });
      expect((await at('blog.test', 'tok-1')).body).not.toContain('print');
    });

    theCase('presents the certificate of a challenge to those who offer its protocol only', async () => {
      await present({ certificates: [blog()], alpnChallenges: [{ name: 'blog.test', ...made.newer }] });
      const asked = await handshake(portOf(router.tlsListen), 'blog.test', ['acme-tls/1']);
      expect(asked.alpnProtocol).toBe('acme-tls/1');
      expect(asked.getPeerCertificate().subjectaltname).toContain('DNS:newer.test');
      asked.destroy();
      expect(await namesShown('blog.test')).toBe('DNS:blog.test');
      await expect(handshake(portOf(router.tlsListen), 'other.test', ['acme-tls/1'])).rejects.toThrow();
    });

    it(`ran all of its ${CASES} cases`, () => {
      expect(ran).toBe(CASES);
    });
  });
}
