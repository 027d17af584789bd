/** Two edges of their own that follow two servers on one PostgreSQL: they get what either changes, serve while none is there, and hold up nobody. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ControlsWorld, startControlsWorld, WITHOUT_CONTROLS } from '../support/controls-world.ts';
import { createLoad } from '../support/load.ts';
import { type OwnEdge, startOwnEdge } from '../support/own-edge.ts';
import { NOT_ROOT, skipFor } from '../support/skips.ts';
import { until } from '../support/until.ts';
import type { World } from '../support/world.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const controls: ControlsWorld | null = await startControlsWorld();

interface Listed {
  readonly Name: string;
  readonly State: string;
  readonly Table: number;
}

describe('two edges of their own', skipFor(controls === null && WITHOUT_CONTROLS), () => {
  const servers: World[] = [];
  const edges: OwnEdge[] = [];
  let token: string;

  const server = (at: number): World => servers[at] ?? expect.fail('no server');
  const edge = (at: number): OwnEdge => edges[at] ?? expect.fail('no edge');
  const deploy = async (by: World): Promise<void> => {
    const body = new URLSearchParams({ image: `${controls?.registry.host}/team/shop:1`, origin: 'image' }).toString();
    const { text } = await by.api('POST', '/1.0/apps/shop/deploy', { token, body, headers: FORM });
    expect(text).toMatch(/OK\n$/);
  };
  const listed = async (by: World): Promise<Listed[]> => (await by.api('GET', '/edges', { token })).json<Listed[]>();
  const states = async (by: World): Promise<string> =>
    (await listed(by)).map(({ Name, State }) => `${Name} ${State}`).join();
  /** A server knows the tables of those that follow it. */
  const allFollow = (...living: World[]): Promise<void> =>
    until(
      async () => {
        const known = (await Promise.all(living.map(listed))).flat().filter(({ Table }) => Table > 0);
        return new Set(known.map(({ Name }) => Name)).size === edges.length;
      },
      { what: 'both edges to follow', detail: () => edges.map((one) => one.output()).join('\n') },
    );
  const answers = (one: OwnEdge): Promise<void> =>
    until(async () => (await one.fetchApp('shop').catch(() => null))?.text === 'hello', { what: 'the app to answer' });
  const unitsBehind = async (at: number): Promise<string> => (await edge(at).fetchApp('shop', '/unit')).text;
  const unitIds = async (by: World): Promise<string[]> =>
    (await by.api('GET', '/apps/shop', { token })).json<{ Units: { ID: string }[] }>().Units.map(({ ID }) => ID);

  beforeAll(async () => {
    for (let at = 0; at < 2; at++) servers.push((await controls?.start()) ?? expect.fail('no server'));
    token = await server(0).login();
    const made = await server(0).api('POST', '/edges/tokens', { token, body: JSON.stringify({ name: 'both' }) });
    const { Token: edgeToken } = made.json<{ Token: string }>();
    const urls = servers.map(({ apiUrl }) => apiUrl);
    for (const name of ['east', 'west']) edges.push(await startOwnEdge({ name, servers: urls, token: edgeToken }));
  });
  afterAll(async () => {
    for (const one of edges) await one.dispose();
    await controls?.dispose();
  });

  it('serve an app that is deployed on either server', async () => {
    await allFollow(...servers);
    const body = JSON.stringify({ name: 'shop', platform: 'nodejs' });
    expect((await server(0).api('POST', '/apps', { token, body })).status).toBe(200);
    await deploy(server(1));
    for (const one of edges) await answers(one);
  });

  it('are users of their own without rights, though root has started them', skipFor(NOT_ROOT), async () => {
    for (const one of edges) {
      const status = await readFile(`/proc/${await one.pid()}/status`, 'utf8');
      const [, uid = '0'] = /^Uid:\t(\d+)/m.exec(status) ?? [];
      expect(Number(uid)).toBeGreaterThan(60_000);
      expect(status).toMatch(/^CapPrm:\t0+$/m);
      expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    }
  });

  it('fail no request of a load over both while either server replaces the units', async () => {
    const loads = edges.map((one) => createLoad(one, 'shop', 4));
    await Promise.all(loads.map((load) => load.reached(50)));
    for (let round = 0; round < 6; round++) await deploy(server(round % 2));
    const ended = await Promise.all(loads.map((load) => load.stop()));
    expect(ended.flatMap(({ failures }) => failures)).toEqual([]);
    expect(Math.min(...ended.map(({ requests }) => requests))).toBeGreaterThan(100);
  });

  it('give way to others that are started beside them, and fail no request of a load meanwhile, though units are replaced', async () => {
    const loads = edges.map((one) => createLoad(one, 'shop', 4));
    await Promise.all(loads.map((load) => load.reached(50)));
    for (const [at, one] of edges.entries()) {
      const [after] = await Promise.all([one.takenOverBy(), deploy(server(at))]);
      edges[at] = after;
      expect(await one.ended).toBe(0);
      await deploy(server(at));
    }
    const ended = await Promise.all(loads.map((load) => load.stop()));
    expect(ended.flatMap(({ failures }) => failures)).toEqual([]);
    expect(await unitsBehind(0)).toBe(await unitsBehind(1));
  });

  it('keep no private key on their disks', async () => {
    for (const one of edges) {
      const names = await readdir(path.join(one.home, 'edge'), { recursive: true });
      expect(names.map((name) => path.basename(name))).toContain('table.json');
      expect(names.map((name) => path.basename(name))).not.toContain('certificates.json');
    }
  });

  it('follow the other server when theirs is killed, under load', async () => {
    const loads = edges.map((one) => createLoad(one, 'shop', 2));
    await server(0).end('SIGKILL');
    for (let round = 0; round < 2; round++) await deploy(server(1));
    const ended = await Promise.all(loads.map((load) => load.stop()));
    expect(ended.flatMap(({ failures }) => failures)).toEqual([]);
    await allFollow(server(1));
    await server(0).startAgain();
  });

  it('serve while no server is there, also when they are started again then', async () => {
    await Promise.all(servers.map((one) => one.end('SIGKILL')));
    for (const one of edges) expect((await one.fetchApp('shop')).text).toBe('hello');
    // The process that serves, alone, and then all of one.
    const pid = await edge(0).pid();
    process.kill(pid, 'SIGKILL');
    await until(async () => (await edge(0).pid()) !== pid, { what: 'the edge to be started again' });
    await answers(edge(0));
    await edge(1).end('SIGKILL');
    await edge(1).startAgain();
    expect((await edge(1).fetchApp('shop')).text).toBe('hello');
    await Promise.all(servers.map((one) => one.startAgain()));
    await allFollow(...servers);
  });

  it('hold up a rollout no longer than their lease when they are dead, and catch up when they live again', async () => {
    const pid = await edge(0).pid();
    process.kill(pid, 'SIGSTOP');
    try {
      const before = await unitsBehind(1);
      await deploy(server(1));
      await until(async () => (await unitsBehind(1)) !== before, { what: 'the other edge to serve by what is new' });
      // The units before are ended, and nobody has waited in vain for as long as it waits for those that live.
      await until(async () => (await unitIds(server(1))).length === 1, { what: 'the unit before to be gone' });
      await until(async () => (await states(server(1))).includes('east lost'), { what: 'it to be lost' });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await allFollow(...servers);
    expect(await unitsBehind(0)).toBe(await unitsBehind(1));
  });

  it('that leave are waited for by nobody, and are listed no more', async () => {
    await edge(1).end('SIGTERM');
    await until(async () => (await states(server(1))) === 'east following', { what: 'it to be gone' });
    await edge(1).startAgain();
    await allFollow(...servers);
  });

  it('follow no more once their token is revoked, and serve on', async () => {
    const revoked = await server(0).cli(['edge', 'token-revoke', 'both', '--yes'], { env: { TANCHO_TOKEN: token } });
    expect(revoked.code, revoked.stderr).toBe(0);
    await until(async () => (await states(server(0))) === 'east lost,west lost', {
      what: 'both streams to end',
    });
    for (const one of edges) expect((await one.fetchApp('shop')).text).toBe('hello');
    expect(edge(0).output()).toContain('the token was revoked');
  });
});
