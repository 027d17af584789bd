import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANN } from '../../test/support/git-people.ts';
import { createGitWorld, type GitWorld } from '../../test/support/git-world.ts';
import { gate, missingPrograms } from '../../test/support/programs.ts';
import { skipFor } from '../../test/support/skips.ts';
import { until } from '../../test/support/until.ts';
import { PlatformError } from '../domain/errors.ts';
import { itLong } from '../../test/support/long-cases.ts';
import { SLOW } from '../../test/support/slow.ts';

const MEGABYTES = SLOW ? 20 : 2;

describe('a push', skipFor(missingPrograms()), () => {
  let world: GitWorld;
  let key: string;
  beforeAll(async () => {
    world = await createGitWorld();
    key = world.key('ed25519', ANN);
  });
  afterAll(() => world.dispose());

  const doors = [
    ['ssh', (app: string) => world.sshUrl(app)],
    ['http', (app: string) => world.httpUrl(app)],
  ] as const;

  for (const [door, url] of doors) {
    // Behind the doors all is the same.
    const itHere = door === 'ssh' ? it : itLong;
    describe(`over ${door}`, () => {
      it('shows lines while the deploy runs, and lays out the new commit before the branch moves', async () => {
        const work = await world.work({ 'index.html': `over ${door}\n` });
        const commit = (await world.git(work, ['rev-parse', 'HEAD'])).stdout.trim();
        const { opened: seen, open: release } = gate();
        const laidOut: string[] = [];
        world.onDeploy = async ({ say, code, caller, signal }) => {
          say('line one');
          await seen;
          const directory = await mkdtemp(join(world.root, 'tree-'));
          if ('source' in code) await code.source.extract(directory, signal);
          laidOut.push(await readFile(join(directory, 'index.html'), 'utf8'), ...(await readdir(directory)));
          say(`line two for ${caller.kind === 'user' ? caller.email : ''} of ${code.commit} by ${code.origin}`);
        };
        const push = world.start('git', ['push', '--force', url('shop'), 'main'], { cwd: work, key });
        await push.shows('remote: line one');
        expect(await world.host.ref('shop', 'refs/heads/main')).not.toBe(commit);
        release();
        const { code, stderr } = await push.done;
        expect(stderr).toContain(`remote: line two for ${ANN} of ${commit} by git`);
        expect(code).toBe(0);
        expect(laidOut).toEqual([`over ${door}\n`, 'index.html']);
        expect(await world.host.ref('shop', 'refs/heads/main')).toBe(commit);
      });

      itHere('is rejected when the deploy fails, and the branch stays', async () => {
        const before = await world.host.ref('shop', 'refs/heads/main');
        const work = await world.work({ a: `fails ${door}` });
        world.onDeploy = async ({ say }) => {
          say('Build failed: \u001b[31mred\u001b[0m \u0007bell');
          throw new PlatformError('deploy.failed', 'The build failed.', { details: { cause: 'build_failed' } });
        };
        const { code, stderr } = await world.git(work, ['push', '--force', url('shop'), 'main'], key);
        expect(code).toBe(1);
        expect(stderr).toContain('remote: Build failed: red bell');
        expect(stderr).toContain('! [remote rejected] main -> main (pre-receive hook declined)');
        expect(stderr).not.toContain('The build failed.');
        expect(await world.host.ref('shop', 'refs/heads/main')).toBe(before);
      });

      itHere('distinguishes refusals that are not failed deploys, and keeps secrets of the platform', async () => {
        const work = await world.work({ a: `refused ${door}` });
        world.onDeploy = async () => {
          throw new PlatformError('quota.exceeded', 'Your quota is used up.', { hint: 'Ask an admin.' });
        };
        const refused = await world.git(work, ['push', '--force', url('shop'), 'main'], key);
        expect(refused.stderr).toContain('remote: Your quota is used up. Ask an admin.');
        world.onDeploy = async () => {
          throw new Error('connect to 10.0.0.1 with hunter2');
        };
        const broken = await world.git(work, ['push', '--force', url('shop'), 'main'], key);
        expect(broken.code).toBe(1);
        expect(broken.stderr).toContain('remote: Something went wrong inside the platform');
        expect(broken.stderr).not.toContain('hunter2');
        const number = /number ([0-9a-f]+)/.exec(broken.stderr)?.[1];
        expect(
          world.logs.some(({ level, fields }) => level === 'error' && 'id' in fields && fields.id === number),
        ).toBe(true);
      });

      itHere('cancels the deploy when the pusher leaves', async () => {
        const work = await world.work({ a: `leaves ${door}` });
        let cancelled = false;
        world.onDeploy = async ({ say, signal }) => {
          say('building');
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
          cancelled = true;
          signal.throwIfAborted();
        };
        const before = await world.host.ref('shop', 'refs/heads/main');
        const push = world.start('git', ['push', '--force', url('shop'), 'main'], { cwd: work, key });
        await push.shows('remote: building');
        push.interrupt();
        await push.done;
        await until(() => cancelled, { what: 'the signal to abort' });
        expect(await world.host.ref('shop', 'refs/heads/main')).toBe(before);
        world.onDeploy = async () => {};
        const again = await world.git(work, ['push', '--force', url('shop'), 'main'], key);
        expect(again.code).toBe(0);
      });

      itHere('ends when the pusher loses the right to it', async () => {
        const work = await world.work({ a: `not any more ${door}` });
        const before = await world.host.ref('shop', 'refs/heads/main');
        world.onDeploy = async ({ say, signal }) => {
          say('building');
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
          signal.throwIfAborted();
        };
        const push = world.start('git', ['push', '--force', url('shop'), 'main'], { cwd: work, key });
        await push.shows('remote: building');
        world.mayStill = false;
        const { code, stderr } = await push.done;
        world.mayStill = true;
        world.onDeploy = async () => {};
        expect(code).not.toBe(0);
        if (door === 'ssh') expect(stderr).toContain('You have no access to the app any more.');
        expect(await world.host.ref('shop', 'refs/heads/main')).toBe(before);
      });

      it(`carries ${MEGABYTES} MB, and clone and fetch bring them back`, async () => {
        world.onDeploy = async ({ say }) => say('ok');
        const work = await world.work();
        const big = randomBytes(MEGABYTES * 1024 * 1024);
        await world.commit(work, { big });
        const { code } = await world.git(work, ['push', '--force', url('shop'), 'main'], key);
        expect(code).toBe(0);
        const clone = join(world.root, `clone-${door}`);
        const cloned = await world.git(world.root, ['clone', '-q', url('shop'), clone], key);
        expect(cloned.stderr).toBe('');
        expect(big.equals(await readFile(join(clone, 'big')))).toBe(true);
        const next = await world.commit(work, { small: 'new\n' });
        await world.git(work, ['push', url('shop'), 'main'], key);
        const fetched = await world.git(clone, ['fetch', '-q', 'origin'], key);
        expect(fetched.code).toBe(0);
        expect((await world.git(clone, ['rev-parse', 'origin/main'])).stdout.trim()).toBe(next);
      });

      itHere('may come from a shallow clone', async () => {
        world.onDeploy = async ({ say }) => say('ok');
        const work = await world.work();
        await world.commit(work, { b: 'second' });
        const shallow = join(world.root, `shallow-${door}`);
        await world.git(world.root, ['clone', '-q', '--depth', '1', `file://${work}`, shallow]);
        const { code, stderr } = await world.git(shallow, ['push', '--force', url('shop'), 'main'], key);
        expect(stderr).toContain('remote: ok');
        expect(code).toBe(0);
      });
    });
  }

  it('stores other branches and tags and says that they are not deployed', async () => {
    let deploys = 0;
    world.onDeploy = async () => {
      deploys += 1;
    };
    const work = await world.work();
    const feature = await world.git(work, ['push', world.sshUrl('shop'), 'main:feature'], key);
    expect(feature.code).toBe(0);
    expect(feature.stderr).toContain(
      'remote: Stored feature, not deployed: only the branch main (or master) is. To deploy it: git push <remote> feature:main',
    );
    expect(deploys).toBe(0);
    expect(await world.host.ref('shop', 'refs/heads/feature')).not.toBeNull();
    const removed = await world.git(work, ['push', world.sshUrl('shop'), ':feature'], key);
    expect(removed.code).toBe(0);
  });

  it('deploys master too, and a clone then checks master out', async () => {
    await world.host.remove('shop');
    world.onDeploy = async () => {};
    const work = await world.work({ m: 'master' });
    expect((await world.git(work, ['push', world.sshUrl('shop'), 'main:master'], key)).code).toBe(0);
    const clone = join(world.root, 'clone-master');
    await world.git(world.root, ['clone', '-q', world.sshUrl('shop'), clone], key);
    expect(await readdir(clone)).toContain('m');
  });

  it('must not delete the deployed branch, nor update both of them at once', async () => {
    world.onDeploy = async () => {};
    const work = await world.work();
    await world.git(work, ['push', '--force', world.sshUrl('shop'), 'main'], key);
    const deleted = await world.git(work, ['push', world.sshUrl('shop'), ':main'], key);
    expect(deleted.code).toBe(1);
    expect(deleted.stderr).toContain('remote: The branch main is what the app runs; it cannot be deleted.');
    const both = await world.work({ both: 'x' });
    const pushed = await world.git(both, ['push', '-f', world.sshUrl('shop'), 'main:main', 'main:master'], key);
    expect(pushed.code).toBe(1);
    expect(pushed.stderr).toContain('remote: Both main and master would be deployed');
  });

  it('waits for another push to the same app, and then sees that the branch has moved', async () => {
    const { opened: go, open: release } = gate();
    const order: string[] = [];
    world.onDeploy = async ({ say, code }) => {
      order.push(code.commit);
      say('first is building');
      await go;
    };
    const [one, two] = [await world.work({ a: 'one' }), await world.work({ a: 'two' })];
    const first = world.start('git', ['push', '-f', world.sshUrl('shop'), 'main'], { cwd: one, key });
    await first.shows('remote: first is building');
    const second = world.start('git', ['push', '-f', world.httpUrl('shop'), 'main'], { cwd: two });
    await second.shows('remote: another deploy goes on');
    release();
    expect((await first.done).code).toBe(0);
    const late = await second.done;
    expect(late.code).toBe(1);
    expect(late.stderr).toContain('remote: The branch main has moved meanwhile');
    const head = (await world.git(one, ['rev-parse', 'HEAD'])).stdout.trim();
    expect(await world.host.ref('shop', 'refs/heads/main')).toBe(head);
    expect(order).toEqual([head]);
  });

  itLong('can be given up while it waits, and holds nobody then', async () => {
    const { opened: go, open: release } = gate();
    let deploys = 0;
    world.onDeploy = async ({ say }) => {
      deploys += 1;
      say('first is building');
      await go;
    };
    const [one, two] = [await world.work({ a: 'i' }), await world.work({ a: 'ii' })];
    const first = world.start('git', ['push', '-f', world.sshUrl('shop'), 'main'], { cwd: one, key });
    await first.shows('remote: first is building');
    const second = world.start('git', ['push', '-f', world.sshUrl('shop'), 'main'], { cwd: two, key });
    await second.shows('another deploy goes on');
    second.interrupt();
    await second.done;
    release();
    expect((await first.done).code).toBe(0);
    expect((await world.git(two, ['push', '-f', world.sshUrl('shop'), 'main'], key)).code).toBe(0);
    expect(deploys).toBe(2);
  });

  itLong('goes on when the push before it fails', async () => {
    const { opened: go, open: release } = gate();
    let deploys = 0;
    world.onDeploy = async ({ say }) => {
      deploys += 1;
      if (deploys > 1) return;
      say('first is building');
      await go;
      throw new PlatformError('deploy.failed', 'no');
    };
    const [one, two] = [await world.work({ a: '1' }), await world.work({ a: '2' })];
    const first = world.start('git', ['push', '-f', world.sshUrl('shop'), 'main'], { cwd: one, key });
    await first.shows('remote: first is building');
    const second = world.start('git', ['push', '-f', world.sshUrl('shop'), 'main'], { cwd: two, key });
    await second.shows('another deploy goes on');
    release();
    expect((await first.done).code).toBe(1);
    expect((await second.done).code).toBe(0);
  });

  itLong('moves its branch also when git is gone before it could, and lets go of what it held', async () => {
    const { opened: go, open: release } = gate();
    world.onDeploy = async ({ say }) => {
      say('switching');
      await go;
    };
    const work = await world.work({ late: 'x' });
    const commit = (await world.git(work, ['rev-parse', 'HEAD'])).stdout.trim();
    const push = world.start('git', ['push', '-f', world.sshUrl('shop'), 'main'], { cwd: work, key });
    await push.shows('remote: switching');
    push.interrupt();
    await push.done;
    const objects = join(world.root, 'repositories', 'shop.git', 'objects');
    const isQuarantine = (name: string): boolean => name.includes('incoming-');
    await until(async () => !(await readdir(objects)).some(isQuarantine), { what: 'git to be gone' });
    expect(await world.host.ref('shop', 'refs/heads/main')).not.toBe(commit);
    release();
    await until(async () => (await world.host.ref('shop', 'refs/heads/main')) === commit, { what: 'the branch' });
    await until(async () => (await world.host.heldPushes()).length === 0, { what: 'nothing to be held' });
    const clone = join(world.root, 'clone-late');
    await world.git(world.root, ['clone', '-q', '-b', 'main', world.sshUrl('shop'), clone], key);
    expect(await readdir(clone)).toContain('late');
  });

  it('is refused past the doors, where nobody would deploy it', async () => {
    const work = await world.work({ direct: 'x' });
    const path = join(world.root, 'repositories', 'shop.git');
    await world.git(work, ['config', 'x.y', 'z']);
    const home = join(world.root, 'repositories', '.platform', '.gitconfig');
    const push = await world.git(work, [
      'push',
      '-f',
      `--receive-pack=git -c include.path=${home} receive-pack`,
      path,
      'main',
    ]);
    expect(push.code).toBe(1);
    expect(push.stderr).toContain('remote: This repository takes pushes through the platform only.');
  });
});
