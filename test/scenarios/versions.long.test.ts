/**
 * The program of the version before and this one, side by side on one PostgreSQL: a server is added and brings the schema up to date, both go on with
 * everything, then the other one is replaced. Edges of both follow both.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtProgram } from '../support/built.ts';
import { type ControlsWorld, startControlsWorld, WITHOUT_CONTROLS } from '../support/controls-world.ts';
import { commitBeforeNewestSchema, earlierBuild, WITHOUT_HISTORY } from '../support/earlier-build.ts';
import { allowPush, createIdentity, createWorkTree, type Identity, sshUrl, type WorkTree } from '../support/git.ts';
import { createLoad, type Load } from '../support/load.ts';
import { type OwnEdge, startOwnEdge } from '../support/own-edge.ts';
import { skipFor } from '../support/skips.ts';
import { until } from '../support/until.ts';
import type { World } from '../support/world.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const CODE = {
  Procfile: 'web: print greeting is $GREETING; serve\n',
  'package.json': '{ "name": "code", "version": "1.0.0", "private": true }\n',
};

const commit = await commitBeforeNewestSchema();
const controls: ControlsWorld | null = commit === null ? null : await startControlsWorld();

describe(
  'two versions side by side',
  skipFor(controls === null && (commit === null ? WITHOUT_HISTORY : WITHOUT_CONTROLS)),
  () => {
    const edges: OwnEdge[] = [];
    let folder: string;
    let [older, newer]: World[] = [];
    let ann: Identity;
    let work: WorkTree;
    let token: string;
    let loads: Load[] = [];

    const before = (): World => older ?? expect.fail('no server of the version before');
    const after = (): World => newer ?? expect.fail('no server of this version');
    const both = (): World[] => [before(), after()];

    beforeAll(async () => {
      folder = await mkdtemp(path.join(os.tmpdir(), 'tancho-versions-'));
      const program = await earlierBuild(folder, commit ?? '');
      older = await controls?.start({}, program);
      token = await before().login();
      ann = await createIdentity();
      await allowPush(before(), ann);
      work = await createWorkTree(CODE, ann);
      for (const name of ['shop', 'code']) {
        const made = await before().api('POST', '/apps', { token, body: JSON.stringify({ name, platform: 'nodejs' }) });
        expect(made.status, made.text).toBe(200);
      }
      await deploy(before());
    });
    afterAll(async () => {
      for (const edge of edges) await edge.dispose();
      await controls?.dispose();
      await work?.dispose();
      await ann?.dispose();
      await rm(folder, { recursive: true, force: true });
    });

    const deploy = async (by: World): Promise<void> => {
      const body = new URLSearchParams({ image: `${controls?.registry.host}/team/shop:1`, origin: 'image' }).toString();
      const { text } = await by.api('POST', '/1.0/apps/shop/deploy', { token, body, headers: FORM });
      expect(text).toMatch(/OK\n$/);
    };
    const push = async (by: World): Promise<void> => {
      await work.commit();
      const pushed = await work.push(sshUrl(by, 'code'));
      expect(pushed.code, pushed.stderr).toBe(0);
    };
    const says = (by: World, wanted: string): Promise<void> =>
      until(async () => (await by.api('GET', '/apps/code/log?lines=100', { token })).text.includes(wanted), {
        what: `the line "${wanted}"`,
      });
    const greet = async (by: World, greeting: string): Promise<void> => {
      const body = JSON.stringify({ GREETING: greeting });
      const changed = await by.api('POST', '/apps/code/env', { token, body });
      expect(changed.status, changed.text).toBe(200);
      for (const one of both()) await says(one, `greeting is ${greeting}`);
    };
    const follow = async (name: string, main?: string): Promise<void> => {
      const made = await before().api('POST', '/edges/tokens', { token, body: JSON.stringify({ name }) });
      const { Token: edgeToken } = made.json<{ Token: string }>();
      const servers = both().map(({ apiUrl }) => apiUrl);
      const edge = await startOwnEdge({ name, servers, token: edgeToken, ...(main !== undefined && { main }) });
      edges.push(edge);
      await until(async () => (await edge.fetchApp('shop').catch(() => null))?.status === 200, {
        what: 'the app there',
      });
    };
    const load = async (...at: { readonly edge: string }[]): Promise<void> => {
      loads = at.map((one) => createLoad(one, 'shop', 2));
      await Promise.all(loads.map((one) => one.reached(50)));
    };
    const unload = async (): Promise<void> => {
      const ended = await Promise.all(loads.splice(0).map((one) => one.stop()));
      expect(ended.flatMap(({ failures }) => failures)).toEqual([]);
    };

    it('a server of this version comes and brings the schema up to date, while the one before serves', async () => {
      await load(before());
      newer = await controls?.start();
      await until(async () => (await after().fetchApp('shop')).text === 'hello', { what: 'the app at the new server' });
      await push(before());
      await deploy(before());
      await unload();
    });

    it('edges of both follow both, and whoever deploys, pushes, changes and removes, everybody serves by it', async () => {
      await follow('older', before().program);
      await follow('newer');
      await load(before(), after(), ...edges);
      for (const [round, by] of [...both(), ...both()].entries()) {
        await deploy(by);
        await work.write({ version: `${round}` });
        await push(by);
        await greet(by, `round ${round}`);
        const name = `short${round}`;
        const made = await by.api('POST', '/apps', { token, body: JSON.stringify({ name, platform: 'nodejs' }) });
        expect(made.status, made.text).toBe(200);
        const [other = by] = both().filter((one) => one !== by);
        const removed = await other.api('DELETE', `/apps/${name}`, { token });
        expect(removed.status, removed.text).toBe(200);
      }
      await unload();
    });

    it('the server of the version before is killed, and starts again on the newer schema', async () => {
      await before().end('SIGKILL');
      await deploy(after());
      await before().startAgain();
      await deploy(before());
      await greet(before(), 'back');
    });

    it('both are replaced while requests go on at the edges, and the same goes on as before', async () => {
      await load(after(), ...edges);
      await before().end('SIGTERM');
      before().program = path.join(await builtProgram(), 'main.js');
      await before().startAgain();
      for (const by of both()) await deploy(by);
      await greet(before(), 'all of this version');
      expect((await before().fetchApp('shop')).text).toBe('hello');
      await unload();
    });
  },
);
