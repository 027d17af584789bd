/** git pushes and packs while a repository is linked: what a reference names is there each time. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { missingPrograms } from '../../../test/support/programs.ts';
import { skipFor } from '../../../test/support/skips.ts';
import { removeTree } from '../remove-tree.ts';
import { linkRepositories } from './link-repositories.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tancho-link-repositories-'));
});
afterEach(() => removeTree(root));

const env = { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b'];

describe('repositories that are written to', skipFor(missingPrograms()), () => {
  it('are linked so that whatever refers has what it refers to', async () => {
    const repository = join(root, 'repos', 'shop.git');
    execFileSync('git', ['init', '-q', '--bare', repository], { env });
    execFileSync('git', ['--git-dir', repository, 'config', 'core.logAllRefUpdates', 'true'], { env });
    await writeFile(join(root, 'repos', 'shop.git', 'description.lock'), '');
    await writeFile(join(root, 'repos', '.platform'), 'of the platform');
    const git = async (...args: string[]): Promise<string> =>
      (await promisify(execFile)('git', [...identity, '--git-dir', repository, ...args], { env })).stdout.trim();
    const tree = await git('hash-object', '-t', 'tree', '-w', '/dev/null');
    let isOver = false;
    const writing = (async (): Promise<void> => {
      for (let count = 0; !isOver; count += 1) {
        const commit = await git('commit-tree', tree, '-m', `number ${count}`);
        await git('update-ref', `refs/heads/of-${count % 5}.keep`, commit);
        if (count % 4 === 3) await git('gc', '-q', '--prune=now');
      }
    })();
    try {
      for (let count = 0; count < 4; count += 1) {
        const to = join(root, `linked-${count}`);
        await linkRepositories(join(root, 'repos'), to);
        const fsck = await promisify(execFile)('git', ['--git-dir', join(to, 'shop.git'), 'fsck', '--strict'], { env });
        expect(fsck.stderr).not.toMatch(/error|missing|invalid/);
        expect(await readFile(join(to, '.platform'), 'utf8')).toBe('of the platform');
        expect(await readdir(join(to, 'shop.git'))).not.toContain('description.lock');
      }
    } finally {
      isOver = true;
      await writing;
    }
    expect((await stat(join(root, 'linked-0', 'shop.git', 'HEAD'))).ino).toBe(
      (await stat(join(repository, 'HEAD'))).ino,
    );
  });
});
