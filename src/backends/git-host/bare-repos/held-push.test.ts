/** The platform dies between the switch to what was pushed and the move of the branch: git refuses the push and throws its objects away. */
import { execFileSync, spawn } from 'node:child_process';
import { access, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { skipFor } from '../../../../test/support/skips.ts';
import { until } from '../../../../test/support/until.ts';
import { missingPrograms } from '../../../../test/support/programs.ts';
import type { HeldPush } from '../../../domain/deploys/git-host.ts';
import { SILENT } from '../../../lib/logger.ts';
import { type BareRepos, createBareRepos } from './bare-repos.ts';

const MAIN = 'refs/heads/main';
const NONE = '0'.repeat(40);

let root: string;
let host: BareRepos;
let work: string;
let bare: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'held-push-'));
  host = await again();
  await host.create('shop');
  bare = join(root, 'repositories', 'shop.git');
  work = join(root, 'work');
  git(root, 'init', '-q', '-b', 'main', work);
});
afterEach(async () => {
  await host.close();
  await rm(root, { recursive: true, force: true });
});

/** As the next start makes it. The hook waits for its judgement in a file: `no` as when the platform is gone. */
function again(): Promise<BareRepos> {
  const preReceive = `#!/bin/sh
echo "$GIT_QUARANTINE_PATH" > '${root}/asked'
while [ ! -e '${root}/judged' ]; do sleep 0.02; done
grep -q yes '${root}/judged'
`;
  return createBareRepos({ root: join(root, 'repositories'), preReceive, logger: SILENT });
}

function git(cwd: string, ...args: string[]): string {
  const identity = ['user.name=a', 'user.email=a@b'].flatMap((setting) => ['-c', setting]);
  const env = { PATH: process.env['PATH'], HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', [...identity, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    .toString()
    .trim();
}

async function commit(text: string): Promise<string> {
  await writeFile(join(work, 'file'), text);
  git(work, 'add', '-A');
  git(work, 'commit', '-q', '-m', text);
  return git(work, 'rev-parse', 'HEAD');
}

/** A push that is held while its hook waits; answers what becomes of it, which `judge` decides. */
async function held(push: HeldPush): Promise<{ judge(word: 'yes' | 'no'): Promise<number> }> {
  await rm(join(root, 'judged'), { force: true });
  await rm(join(root, 'asked'), { force: true });
  const receive = `git -c include.path=${join(root, 'repositories', '.platform', '.gitconfig')} receive-pack`;
  const child = spawn('git', ['push', '-q', `--receive-pack=${receive}`, bare, 'main'], { cwd: work, stdio: 'ignore' });
  const exited = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)));
  const asked = async (): Promise<string> => readFile(join(root, 'asked'), 'utf8').catch(() => '');
  await until(async () => (await asked()).endsWith('\n'), { what: 'the hook' });
  await host.holdPush('shop', { ...push, quarantine: (await asked()).trim() });
  return {
    async judge(word) {
      // At once: a hook that finds the file before the word in it takes that for a no.
      await writeFile(join(root, 'judging'), word);
      await rename(join(root, 'judging'), join(root, 'judged'));
      return exited;
    },
  };
}

describe('a push that is held', skipFor(missingPrograms()), () => {
  it('moves its branch after the platform and git have given it up', async () => {
    const to = await commit('one');
    const push = { deploy: 'd1', ref: MAIN, from: NONE, to };
    expect(await (await held(push)).judge('no')).not.toBe(0);
    expect(() => git(root, '--git-dir', bare, 'cat-file', '-e', to)).toThrow();
    await host.close();
    host = await again();
    expect(await host.heldPushes()).toEqual([{ app: 'shop', ...push }]);
    expect(await host.finishPush('shop', 'move')).toBe(true);
    expect(await host.ref('shop', MAIN)).toBe(to);
    git(root, '--git-dir', bare, 'fsck', '--strict');
    git(root, 'clone', '-q', bare, join(root, 'clone'));
    expect(await readFile(join(root, 'clone', 'file'), 'utf8')).toBe('one');
    expect(await host.heldPushes()).toEqual([]);
    expect(git(work, 'push', bare, 'main', '--porcelain')).toMatch(/=\t.*up to date/);
  });

  it('leaves nothing when it is forgotten, and is no obstacle to git when it is not', async () => {
    const to = await commit('one');
    const push = { deploy: 'd1', ref: MAIN, from: NONE, to };
    expect(await (await held(push)).judge('no')).not.toBe(0);
    expect(await host.finishPush('shop', 'forget')).toBe(true);
    expect(await host.ref('shop', MAIN)).toBeNull();
    await expect(access(join(bare, 'tancho-push'))).rejects.toThrow();
    expect(git(root, '--git-dir', bare, 'count-objects')).toBe('0 objects, 0 kilobytes');
    expect(await (await held(push)).judge('yes')).toBe(0);
    expect(await host.finishPush('shop', 'move')).toBe(true);
    expect(await host.ref('shop', MAIN)).toBe(to);
    git(root, '--git-dir', bare, 'fsck', '--strict');
  });

  it('leaves a branch that has moved meanwhile, and one whose objects are not whole', async () => {
    const first = await commit('one');
    const push = { deploy: 'd1', ref: MAIN, from: NONE, to: first };
    expect(await (await held(push)).judge('yes')).toBe(0);
    expect(await host.finishPush('shop', 'move')).toBe(true);
    const second = await commit('two');
    expect(await (await held({ ...push, to: second, from: second })).judge('no')).not.toBe(0);
    expect(await host.finishPush('shop', 'move')).toBe(false);
    expect(await host.ref('shop', MAIN)).toBe(first);
    const third = await commit('three');
    expect(await (await held({ ...push, to: third, from: first })).judge('no')).not.toBe(0);
    await rm(join(bare, 'tancho-push', 'objects', git(work, 'rev-parse', 'HEAD:file').slice(0, 2)), {
      recursive: true,
    });
    expect(await host.finishPush('shop', 'move')).toBe(false);
    expect(await host.ref('shop', MAIN)).toBe(first);
    expect(await host.heldPushes()).toEqual([]);
  });
});
