/** What every git host must do. `world` offers a way to put commits into a repository, as a push would. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GitHost } from '../../domain/deploys/git-host.ts';
import { isPlatformError } from '../../domain/errors.ts';

interface GitHostWorld {
  readonly host: GitHost;
  /** Puts one commit with exactly these files on main and answers its id. */
  push(app: string, files: Readonly<Record<string, string>>): Promise<string>;
  dispose(): Promise<void>;
}

/** Raised with every case that is added, so that the suite cannot hollow out unnoticed. */
const CASES = 8;

export function gitHostConformance(name: string, create: () => Promise<GitHostWorld>): void {
  describe(`git host ${name}`, () => {
    let world: GitHostWorld;
    let scratch: string;
    let ran = 0;
    beforeAll(async () => {
      scratch = await mkdtemp(join(tmpdir(), 'git-host-'));
      world = await create();
    });
    afterAll(async () => {
      await world.dispose();
      await rm(scratch, { recursive: true, force: true });
      expect(ran, 'cases of the conformance suite').toBe(CASES);
    });
    const never = new AbortController().signal;
    const empty = (): Promise<string> => mkdtemp(join(scratch, 'tree-'));
    const check = (title: string, body: () => Promise<void>): void => {
      it(title, async () => {
        ran += 1;
        await body();
      });
    };

    check('creates a repository once, however often it is asked', async () => {
      expect(await world.host.exists('alpha')).toBe(false);
      await Promise.all([world.host.create('alpha'), world.host.create('alpha')]);
      const commit = await world.push('alpha', { a: 'kept' });
      await world.host.create('alpha');
      expect(await world.host.exists('alpha')).toBe(true);
      const tree = await empty();
      await world.host.source('alpha', commit).extract(tree, never);
      expect(await readFile(join(tree, 'a'), 'utf8')).toBe('kept');
    });

    check('lists the apps with a repository', async () => {
      await world.host.create('gamma');
      await world.host.create('beta-2');
      expect((await world.host.list()).filter((app) => ['beta-2', 'gamma'].includes(app)).sort()).toEqual([
        'beta-2',
        'gamma',
      ]);
    });

    check('removes a repository with all that was in it, and what is missing without complaint', async () => {
      await world.host.create('gone');
      const commit = await world.push('gone', { a: '1' });
      await world.host.remove('gone');
      await world.host.remove('gone');
      expect(await world.host.exists('gone')).toBe(false);
      expect(await world.host.list()).not.toContain('gone');
      await world.host.create('gone');
      await expect(world.host.source('gone', commit).extract(await empty(), never)).rejects.toSatisfy((error) =>
        isPlatformError(error, 'deploy.invalid_source'),
      );
    });

    check('refuses names that are not names of apps', async () => {
      for (const name of ['../up', '-x', 'a/b', '.platform', '', 'A', 'a\0b']) {
        await expect(
          (async () => {
            await world.host.create(name);
          })(),
          name,
        ).rejects.toThrow();
      }
    });

    check('lays out the tree of the commit that is asked for', async () => {
      await world.host.create('trees');
      const first = await world.push('trees', { a: 'one', 'sub/b': 'two' });
      await world.push('trees', { c: 'three' });
      const tree = await empty();
      await world.host.source('trees', first).extract(tree, never);
      expect((await readdir(tree)).sort()).toEqual(['a', 'sub']);
      expect(await readFile(join(tree, 'sub', 'b'), 'utf8')).toBe('two');
    });

    check('refuses commits it does not have and text that is no commit', async () => {
      await world.host.create('trees');
      for (const commit of ['0'.repeat(39) + '1', 'main', '--help', 'HEAD', '']) {
        const extracting = (async () => world.host.source('trees', commit).extract(await empty(), never))();
        await expect(extracting, commit).rejects.toSatisfy((error) => isPlatformError(error, 'deploy.invalid_source'));
      }
    });

    check('gives up when the signal says so', async () => {
      await world.host.create('stops');
      const commit = await world.push('stops', { a: '1' });
      const stop = new AbortController();
      stop.abort(new Error('enough'));
      await expect(world.host.source('stops', commit).extract(await empty(), stop.signal)).rejects.toThrow('enough');
    });

    check('reports the difference of two commits, and nothing of unknown ones', async () => {
      await world.host.create('diffs');
      const from = await world.push('diffs', { a: 'old\n' });
      const to = await world.push('diffs', { a: 'new\n' });
      const diff = await world.host.diff('diffs', from, to);
      expect(diff).toContain('-old\n+new\n');
      expect(await world.host.diff('diffs', from, '1'.repeat(40))).toBe('');
      expect(await world.host.diff('diffs', '', to)).toBe('');
      expect(await world.host.diff('diffs', '--output=/tmp/x', to)).toBe('');
    });
  });
}
