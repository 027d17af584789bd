/** kill -9 of control: apps go on, what was acknowledged is kept, nothing stays half-done, nobody has to repair anything. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  allowPush,
  createIdentity,
  createWorkTree,
  type Identity,
  nodeApp,
  pushedApp,
  sshUrl,
  type WorkTree,
} from '../support/git.ts';
import { createLoad } from '../support/load.ts';
import { rounds } from '../support/rounds.ts';
import { until } from '../support/until.ts';
import { edgePid, run, startWorld, type World } from '../support/world.ts';

/** Every step of every operation is cut off in test/domain/crash-*.test.ts; here it is real processes. */
const ROUNDS = rounds(6, 20);

let world: World;
let ann: Identity;
let token: string;
let work: WorkTree;

beforeAll(async () => {
  world = await startWorld();
  ann = await createIdentity();
  token = await allowPush(world, ann);
  work = await pushedApp(world, { name: 'steady', files: nodeApp('version 0'), identity: ann, token });
  // The first start has chosen free ports, which are settings from now on; an edge with other settings is replaced.
  await world.end('SIGTERM');
  await world.startAgain();
});

afterAll(async () => {
  await work.dispose();
  await world.dispose();
  await ann.dispose();
});

interface AppAnswer {
  readonly Units: readonly { readonly State: string; readonly ID: string }[];
}

async function appInfo(): Promise<AppAnswer> {
  return (await world.api('GET', '/apps/steady', { token })).json<AppAnswer>();
}

describe('kill -9 of control', () => {
  it('loses no request of an app under load, and the unit and the edge are adopted', async () => {
    const before = await appInfo();
    const edge = await edgePid(world);
    const load = createLoad(world, 'steady', 8);
    await load.reached(200);
    await world.end('SIGKILL');
    await load.reached(400);
    await world.startAgain();
    await load.reached(600);
    const result = await load.stop();
    expect(result.failures).toEqual([]);
    expect(await edgePid(world)).toBe(edge);
    expect((await appInfo()).Units.map((unit) => unit.ID)).toEqual(before.Units.map((unit) => unit.ID));
  });

  it(`${ROUNDS} times at random moments of pushes, variables and restarts loses nothing that was acknowledged`, async () => {
    const load = createLoad(world, 'steady', 2);
    const acknowledged = new Map<string, string>();
    const texts = new Set(['version 0']);
    for (let round = 1; round <= ROUNDS; round++) {
      const action = round % 3;
      const text = `version ${round}`;
      const moment = Math.random() * 900;
      const done = (async (): Promise<void> => {
        if (action === 0) {
          const answer = await world.api('POST', '/apps/steady/restart', { token });
          if (answer.status === 200) acknowledged.set('restart', String(round));
        } else if (action === 1) {
          const body = JSON.stringify({ [`VAR_${round}`]: text });
          const answer = await world.api('POST', '/apps/steady/env', { token, body });
          if (answer.status === 200 && !answer.text.includes('"Error"')) acknowledged.set(`VAR_${round}`, text);
        } else {
          await work.write(nodeApp(text));
          await work.commit(text);
          texts.add(text);
          if ((await work.push(sshUrl(world, 'steady'))).code === 0) acknowledged.set('code', text);
        }
      })().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, moment));
      await world.end('SIGKILL');
      await done;
      await world.startAgain();
      await checkInvariants(acknowledged, texts);
    }
    expect((await load.stop()).failures).toEqual([]);
    const pushed = await work.push(sshUrl(world, 'steady'));
    expect(pushed.code, pushed.stderr).toBe(0);
  });
});

it('a push that was cut off after the switch to its code is finished by the next start', async () => {
  await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'clinging', platform: 'nodejs' }) });
  const url = sshUrl(world, 'clinging');
  const app = nodeApp('old');
  // Its units do not end when they are asked to, which the push waits for a moment; in that moment the platform dies.
  const clinging = { ...app, 'server.js': `process.on('SIGTERM', () => {});\n${app['server.js']}` };
  const tree = await createWorkTree(clinging, ann);
  const first = await tree.push(url);
  expect(first.code, first.stderr).toBe(0);
  await tree.write(nodeApp('new'));
  const commit = await tree.commit('new');
  const second = tree.push(url);
  await until(async () => (await world.fetchApp('clinging')).text === 'new', { everyMs: 5, what: 'the new version' });
  await world.end('SIGKILL');
  await second;
  await world.startAgain();
  expect((await world.fetchApp('clinging')).text).toBe('new');
  const listed = await run('git', ['ls-remote', url, 'refs/heads/main'], { cwd: tree.dir, env: tree.env });
  expect(listed.stdout).toBe(`${commit}\trefs/heads/main\n`);
  const again = await tree.push(url);
  expect(again.code, again.stderr).toBe(0);
  await tree.dispose();
});

async function checkInvariants(acknowledged: ReadonlyMap<string, string>, texts: ReadonlySet<string>): Promise<void> {
  const vars = (await world.api('GET', '/apps/steady/env', { token })).json<{ name: string; value: string }[]>();
  const stored = new Map(vars.map(({ name, value }) => [name, value]));
  for (const [name, value] of acknowledged) if (name.startsWith('VAR_')) expect(stored.get(name)).toBe(value);
  const answer = await world.fetchApp('steady');
  expect(answer.status).toBe(200);
  expect(texts).toContain(answer.text);
  const code = acknowledged.get('code');
  // A push that was not acknowledged may still have been the last to be switched to; an older one never comes back.
  if (code !== undefined) expect(versionOf(answer.text)).toBeGreaterThanOrEqual(versionOf(code));
  await until(async () => (await appInfo()).Units.every((unit) => unit.State === 'started'), {
    what: 'every unit to be started',
  });
  expect((await appInfo()).Units).toHaveLength(1);
  await until(
    async () => {
      const deploys = (await world.api('GET', '/deploys?app=steady', { token })).json<
        { ID: string; State?: string }[]
      >();
      return deploys.every(
        (deploy) => deploy.State === undefined || ['done', 'failed', 'cancelled'].includes(deploy.State),
      );
    },
    { what: 'every deploy to be finished' },
  );
}

function versionOf(text: string): number {
  return Number(text.replace('version ', ''));
}
