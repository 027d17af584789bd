/** A server without an edge: apps answer at edges that follow it, it says so, and what it had of an edge before is gone. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ControlsWorld, startControlsWorld, WITHOUT_CONTROLS } from '../support/controls-world.ts';
import { freePort } from '../support/free-port.ts';
import { type OwnEdge, startOwnEdge } from '../support/own-edge.ts';
import { skipFor } from '../support/skips.ts';
import { until } from '../support/until.ts';
import { edgePid, type World } from '../support/world.ts';
import { readProcess } from '../../src/lib/processes.ts';

const controls: ControlsWorld | null = await startControlsWorld();

describe('a server without an edge', skipFor(controls === null && WITHOUT_CONTROLS), () => {
  let server: World;
  let edge: OwnEdge;
  let token: string;

  beforeAll(async () => {
    const listen = `127.0.0.1:${await freePort()}`;
    server = (await controls?.start({ TANCHO_EDGE: 'off', TANCHO_EDGE_LISTEN: listen })) ?? expect.fail('no server');
    token = await server.login();
    const made = await server.api('POST', '/edges/tokens', { token, body: JSON.stringify({ name: 'any' }) });
    const { Token } = made.json<{ Token: string }>();
    const env = { TANCHO_EDGE_LISTEN: listen };
    edge = await startOwnEdge({ name: 'oslo', servers: [server.apiUrl], token: Token, env });
  });
  afterAll(async () => {
    await edge.dispose();
    await controls?.dispose();
  });

  it('serves apps by the edge that follows it, and finds them there', async () => {
    const body = JSON.stringify({ name: 'shop', platform: 'nodejs' });
    expect((await server.api('POST', '/apps', { token, body })).status).toBe(200);
    const image = new URLSearchParams({ image: `${controls?.registry.host}/team/shop:1`, origin: 'image' }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const { text } = await server.api('POST', '/1.0/apps/shop/deploy', { token, body: image, headers });
    expect(text).toMatch(/OK\n$/);
    await until(async () => (await edge.fetchApp('shop')).text === 'hello', { what: 'the app to answer' });
    const why = await server.cli(['why', 'shop'], { env: { TANCHO_TOKEN: token } });
    expect(why.stdout + why.stderr).not.toMatch(/no answer|takes no connection/);
    expect(why.code, why.stdout + why.stderr).toBe(0);
  });

  it('says that it has none, and how many follow', async () => {
    expect(server.output()).toMatch(/Apps: +at edges of their own/);
    const { code, stdout } = await server.cli(['server', 'status']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Edge: +none on this machine; 1 of their own follow/);
    expect(existsSync(path.join(server.home, 'run', 'edge.pid'))).toBe(false);
  });

  it('ends the edge that it had before', async () => {
    const before = (await controls?.start()) ?? expect.fail('no server');
    const pid = await edgePid(before);
    await before.end('SIGTERM');
    expect(readProcess(pid)?.zombie).toBe(false);
    await before.startAgain({ TANCHO_EDGE: 'off' });
    await until(() => readProcess(pid)?.zombie !== false, { what: 'the edge to be gone' });
  });
});
