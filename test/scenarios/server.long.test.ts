/** `tancho server` as its operator knows it: signals, stop, a second start, crashes of its parts; nothing stays behind. */
import { rename } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allowPush, createIdentity, createWorkTree, type Identity, pidApp, sshUrl } from '../support/git.ts';
import { allGone, processesOf } from '../support/processes-of.ts';
import { until } from '../support/until.ts';
import { edgePid, startWorld, type World } from '../support/world.ts';

let world: World;
let ann: Identity;

beforeAll(async () => {
  world = await startWorld({ env: { TANCHO_UNITS_STOP_GRACE: '2s' } });
  ann = await createIdentity();
  const token = await allowPush(world, ann);
  await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'stays', platform: 'nodejs' }) });
  const work = await createWorkTree(pidApp(), ann);
  const pushed = await work.push(sshUrl(world, 'stays'));
  expect(pushed.code, pushed.stderr).toBe(0);
  await work.dispose();
});

afterAll(async () => {
  const mine = await processesOf(world.home);
  await world.dispose();
  await ann.dispose();
  await allGone(mine);
});

/** Which process of the app answers: its host and pid as the app itself sees them. */
async function unit(): Promise<string> {
  const answer = await world.fetchApp('stays');
  expect(answer.status, answer.text).toBe(200);
  return answer.text;
}

async function answersWithin(timeoutMs: number): Promise<number> {
  const begun = Date.now();
  await until(async () => (await world.fetchApp('stays').catch(() => null))?.status === 200, {
    timeoutMs,
    what: 'the app to answer',
  });
  return Date.now() - begun;
}

describe('a server that runs', () => {
  it('refuses a second one for the same home with one clear line', async () => {
    const before = await unit();
    const second = await world.cli(['server']);
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(/^Error: .*already.*\n( {2}Hint: .*\n)?$/);
    expect(second.stderr).toContain(String(world.pid));
    expect(second.stderr).toContain('tancho server stop');
    expect(await unit()).toBe(before);
    expect((await world.cli(['server', 'status'])).code).toBe(0);
  });

  it('starts a killed edge again, and the app answers', async () => {
    const before = await unit();
    const old = await edgePid(world);
    const begun = Date.now();
    process.kill(old, 'SIGKILL');
    // The killed one may still answer for a moment.
    await until(async () => (await edgePid(world)) !== old, { what: 'another edge' });
    await answersWithin(60_000);
    console.log(`the app answered ${Date.now() - begun} ms after kill -9 of the edge`);
    expect(await unit()).toBe(before);
  });

  it('killed together with its edge finds the units again', async () => {
    const before = await unit();
    process.kill(await edgePid(world), 'SIGKILL');
    await world.end('SIGKILL');
    const begun = Date.now();
    await world.startAgain();
    console.log(`ready ${Date.now() - begun} ms after the start that follows kill -9 of control and edge`);
    expect(await unit()).toBe(before);
  });

  it('that cannot start again leaves the edge that serves', async () => {
    const before = await unit();
    const edge = await edgePid(world);
    await world.end('SIGKILL');
    const squatter = createServer();
    const { hostname, port } = new URL(world.apiUrl);
    await new Promise<void>((resolve) => squatter.listen(Number(port), hostname, resolve));
    try {
      await expect(world.startAgain()).rejects.toThrow(/cannot listen/i);
      expect(await unit()).toBe(before);
      expect(await edgePid(world)).toBe(edge);
    } finally {
      await new Promise((resolve) => squatter.close(resolve));
    }
    await world.startAgain();
    expect(await unit()).toBe(before);
  });

  it('ends at SIGTERM and leaves the units, which the next start takes over', async () => {
    const before = await unit();
    await world.end('SIGTERM');
    const left = await processesOf(world.home);
    expect(left.filter(({ command }) => command.includes(world.program))).toEqual([]);
    expect(await unit()).toBe(before);
    const edge = await edgePid(world);
    await world.startAgain();
    expect(await unit()).toBe(before);
    expect(await edgePid(world)).toBe(edge);
  });

  it('is stopped from another process, with and without the apps', async () => {
    const before = await unit();
    const stopped = await world.cli(['server', 'stop']);
    expect(stopped.code, stopped.stderr).toBe(0);
    expect(stopped.stdout).toContain('on the air');
    expect(await unit()).toBe(before);
    expect((await world.cli(['server', 'status'])).code).toBe(1);
    await world.startAgain();
    expect(await unit()).toBe(before);

    const mine = await processesOf(world.home);
    const all = await world.cli(['server', 'stop', '--all']);
    expect(all.code, all.stderr).toBe(0);
    await allGone(mine);
    expect(await processesOf(world.home)).toEqual([]);
    const none = await world.cli(['server', 'stop']);
    expect([none.code, none.stdout.split('\n').length]).toEqual([0, 2]);
    await world.startAgain();
    await answersWithin(15_000);
    expect(await unit()).not.toBe(before);
  });

  it('ends at SIGINT with the apps and the edge, and the next start brings the apps back', async () => {
    const mine = await processesOf(world.home);
    expect(mine.length).toBeGreaterThanOrEqual(3);
    await world.end('SIGINT');
    await allGone(mine);
    expect(await processesOf(world.home)).toEqual([]);
    const begun = Date.now();
    await world.startAgain();
    const ready = Date.now() - begun;
    const answered = await answersWithin(15_000);
    console.log(`ready ${ready} ms after the start, the app answered ${answered} ms later`);
  });

  it('ends so also where nobody reads its output any more, and does not end by that', async () => {
    const mine = await processesOf(world.home);
    world.stopReading();
    await answersWithin(15_000);
    await world.end('SIGINT');
    await allGone(mine);
    await world.startAgain();
    await answersWithin(15_000);
  });

  it('does not start without the key of its secrets, and starts again with it', async () => {
    await world.end('SIGINT');
    const key = path.join(world.home, 'secret.key');
    await rename(key, `${key}.away`);
    const refused = await world.cli(['server']);
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toMatch(/^Error: .*key.*\n( {2}Hint: .*\n)?$/);
    expect(refused.stderr).not.toContain('fault of the program');
    expect(await processesOf(world.home)).toEqual([]);
    await rename(`${key}.away`, key);
    await world.startAgain();
    await answersWithin(15_000);
  });
});
