/** HTTPS by itself: a fresh home, a domain, an authority, a push, and the first answer over TLS; renewals that nobody notices. */
import { X509Certificate } from 'node:crypto';
import { get } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { lookByHttp } from '../support/acme-checks.ts';
import { AcmeServer } from '../support/acme-server.ts';
import { freePort } from '../support/free-port.ts';
import { allowPush, createIdentity, createWorkTree, nodeApp, sshUrl } from '../support/git.ts';
import { type Pebble, startPebble, WITHOUT_PEBBLE } from '../support/pebble.ts';
import { rounds } from '../support/rounds.ts';
import { skipFor } from '../support/skips.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';

const DOMAIN = 'apps.example.com';
const APPS = rounds(100, 1_000);
/** Requests at one time. */
const AT_ONCE = 8;
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Shown {
  readonly status: number;
  readonly text: string;
  readonly names: string;
  readonly serial: string;
}

function fetchTls(port: number, servername: string): Promise<Shown> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      servername,
      headers: { host: servername },
      rejectUnauthorized: false,
      agent: false,
    };
    const asked = get(options, (answer) => {
      const { raw } = (answer.socket as TLSSocket).getPeerCertificate();
      const { subjectAltName = '', serialNumber } = new X509Certificate(raw);
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, text, names: subjectAltName, serial: serialNumber }),
      );
      answer.on('error', reject);
    });
    asked.on('error', reject);
  });
}

async function startOnTls(ports: { http: number; tls: number }, env: Record<string, string>): Promise<World> {
  const world = await startWorld({
    env: {
      TANCHO_EDGE_LISTEN: `127.0.0.1:${ports.http}`,
      TANCHO_TLS_LISTEN: `127.0.0.1:${ports.tls}`,
      TANCHO_DOMAIN: DOMAIN,
      // The ports are none of the web, and the names lead to loopback.
      TANCHO_CERTIFICATES_LOOK: 'off',
      ...env,
    },
  });
  closers.push(() => world.dispose());
  return world;
}

async function pushApp(world: World, name: string, more: Record<string, string> = {}): Promise<string> {
  const ann = await createIdentity();
  closers.push(() => ann.dispose());
  const token = await allowPush(world, ann);
  const body = JSON.stringify({ name, platform: 'nodejs' });
  expect((await world.api('POST', '/apps', { token, body })).status).toBe(200);
  const work = await createWorkTree({ ...nodeApp('over TLS'), ...more }, ann);
  closers.push(() => work.dispose());
  const pushed = await work.push(sshUrl(world, name));
  expect(pushed.code, pushed.stderr).toBe(0);
  return pushed.stderr;
}

/** Without code: a name is all that a certificate needs. */
async function createApps(world: World, count: number): Promise<void> {
  const token = await world.login();
  let next = 0;
  const one = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) {
      const body = JSON.stringify({ name: `app-${at}`, platform: 'nodejs' });
      expect((await world.api('POST', '/apps', { token, body })).status).toBe(200);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

async function firstAnswer(world: World, port: number, host: string): Promise<Shown> {
  let shown: Shown | null = null;
  await until(
    async () => {
      shown = await fetchTls(port, host).catch(() => null);
      return shown?.status === 200;
    },
    { timeoutMs: 120_000, what: 'an answer over TLS', detail: () => world.output() },
  );
  return shown ?? fetchTls(port, host);
}

/** Asks all the time until `work` is done; how many were asked and what was not answered. */
async function under(
  port: number,
  host: string,
  work: () => Promise<unknown>,
): Promise<{ asked: number; failed: string[] }> {
  const result = { asked: 0, failed: [] as string[] };
  let isOver = false;
  const ask = async (): Promise<void> => {
    while (!isOver) {
      result.asked += 1;
      await fetchTls(port, host).then(
        ({ status }) => void (status === 200 || result.failed.push(String(status))),
        (error: unknown) => void result.failed.push(String(error)),
      );
    }
  };
  const asking = Promise.all([ask(), ask(), ask()]);
  await work().finally(() => (isOver = true));
  await asking;
  return result;
}

describe('HTTPS by itself', () => {
  it('comes with the first push, and a renewal fails no request', async () => {
    const ports = { http: await freePort(), tls: await freePort() };
    const ca = await new AcmeServer({ look: lookByHttp(ports.http), kinds: ['http-01'], lifeDays: 45 }).start();
    closers.push(() => ca.close());
    const world = await startOnTls(ports, { TANCHO_ACME_DIRECTORY: ca.directory });
    const printed = await pushApp(world, 'shop');
    const before = await firstAnswer(world, ports.tls, `shop.${DOMAIN}`);
    expect(before).toMatchObject({ text: 'over TLS', names: `DNS:shop.${DOMAIN}` });
    expect(printed).toMatch(/shop\.apps\.example\.com/);
    const { asked, failed } = await under(ports.tls, `shop.${DOMAIN}`, async () => {
      for (let round = 0; round < 3; round++) {
        const renewed = await world.cli(['cert', 'renew', `shop.${DOMAIN}`, '--json']);
        expect(renewed.code, renewed.stderr).toBe(0);
      }
    });
    expect(failed).toEqual([]);
    expect(asked).toBeGreaterThan(3);
    const after = await fetchTls(ports.tls, `shop.${DOMAIN}`);
    expect(after.serial).not.toBe(before.serial);
    // What is there is there after a restart, without another order.
    const { length } = ca.orders;
    await world.end('SIGKILL');
    await world.startAgain();
    expect((await fetchTls(ports.tls, `shop.${DOMAIN}`)).serial).toBe(after.serial);
    expect(ca.orders).toHaveLength(length);
  });

  it('comes from the local authority below localhost', async () => {
    const ports = { http: await freePort(), tls: await freePort() };
    const world = await startOnTls(ports, { TANCHO_DOMAIN: 'localhost' });
    await pushApp(world, 'shop');
    const shown = await firstAnswer(world, ports.tls, 'shop.localhost');
    expect(shown).toMatchObject({ text: 'over TLS', names: 'DNS:shop.localhost' });
    const trust = await world.cli(['cert', 'trust', '--out', `${world.home}/root.pem`]);
    expect(trust.stdout).toContain('update-ca-certificates');
    const list = await world.cli(['cert', 'list', '--json']);
    expect(JSON.parse(list.stdout)).toMatchObject([
      { names: ['api.localhost'], state: 'issued', presented: true },
      { names: ['shop.localhost'], state: 'issued', presented: true },
    ]);
    const info = await world.cli(['app', 'info', 'shop']);
    expect(info.stdout).toContain(`https://shop.localhost:${ports.tls}`);
  });
});

describe('with Pebble', skipFor(WITHOUT_PEBBLE), () => {
  async function withPebble(env: (pebble: Pebble) => Record<string, string> = () => ({})) {
    const ports = { http: await freePort(), tls: await freePort() };
    const pebble = await startPebble(ports);
    closers.push(() => pebble.close());
    const world = await startOnTls(ports, {
      TANCHO_ACME_DIRECTORY: pebble.directory,
      TANCHO_ACME_ROOTS: pebble.roots,
      TANCHO_DNS_SERVERS: pebble.dns,
      ...env(pebble),
    });
    return { ports, pebble, world };
  }

  it('a certificate is issued for each name by http-01, and renewed', async () => {
    const { ports, world, pebble } = await withPebble();
    await pushApp(world, 'shop');
    const before = await firstAnswer(world, ports.tls, `shop.${DOMAIN}`);
    expect(before, pebble.output()).toMatchObject({ text: 'over TLS', names: `DNS:shop.${DOMAIN}` });
    const { failed } = await under(ports.tls, `shop.${DOMAIN}`, () => world.cli(['cert', 'renew', `shop.${DOMAIN}`]));
    expect(failed).toEqual([]);
    expect((await fetchTls(ports.tls, `shop.${DOMAIN}`)).serial).not.toBe(before.serial);
  });

  it('the name of a process of its own has a certificate of its own', async () => {
    const { ports, world, pebble } = await withPebble();
    await pushApp(world, 'shop', {
      Procfile: 'web: node server.js\nadmin: node server.js\n',
      'tancho.yaml': 'processes:\n  admin:\n    routed: true\n',
    });
    const host = `admin.shop.${DOMAIN}`;
    const shown = await firstAnswer(world, ports.tls, host);
    expect(shown, pebble.output()).toMatchObject({ text: 'over TLS', names: `DNS:${host}` });
    expect(await firstAnswer(world, ports.tls, `shop.${DOMAIN}`)).toMatchObject({ names: `DNS:shop.${DOMAIN}` });
  });

  it(`one wildcard is issued by a record that stays, and no order more for ${APPS} apps`, async () => {
    const { ports, world, pebble } = await withPebble(() => ({
      TANCHO_ACME_DNS_PERSIST: 'on',
      TANCHO_CERTIFICATES_LOOK: 'on',
    }));
    await until(async () => (await world.cli(['cert', 'list'])).stdout.includes('_validation-persist'), {
      timeoutMs: 60_000,
      what: 'the record to be missed',
      detail: () => world.output(),
    });
    const trust = JSON.parse((await world.cli(['cert', 'trust', '--json'])).stdout) as {
      dnsRecord: string;
      dnsValue: string;
    };
    await pebble.setTxt(trust.dnsRecord, trust.dnsValue);
    const renewed = await world.cli(['cert', 'renew', `*.${DOMAIN}`]);
    expect(renewed.stdout + pebble.output().slice(-3_000)).toContain(`*.${DOMAIN} has a certificate`);
    await pushApp(world, 'shop');
    expect(await fetchTls(ports.tls, `shop.${DOMAIN}`)).toMatchObject({ status: 200, names: `DNS:*.${DOMAIN}` });
    await createApps(world, APPS);
    expect(await fetchTls(ports.tls, `app-${APPS - 1}.${DOMAIN}`)).toMatchObject({ names: `DNS:*.${DOMAIN}` });
    expect((await world.cli(['cert', 'renew', `*.${DOMAIN}`, '--json'])).code).toBe(0);
    // The first one, and that of the renewal just now: whatever was under way before it has been seen to.
    expect(pebble.output().match(/Added order/g)).toHaveLength(2);
  }, 600_000);
});
