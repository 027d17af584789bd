import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANN } from '../../test/support/git-people.ts';
import { createGitWorld, type GitWorld } from '../../test/support/git-world.ts';
import { missingPrograms } from '../../test/support/programs.ts';
import { skipFor } from '../../test/support/skips.ts';
import { tarOf } from '../../test/support/tar-writer.ts';

const MIB = 1024 * 1024;
describe('a repository that may hold 3 MiB', skipFor(missingPrograms()), () => {
  let world: GitWorld;
  let key: string;
  beforeAll(async () => {
    world = await createGitWorld({ maxRepositoryBytes: 3 * MIB });
    key = world.key('ed25519', ANN);
  });
  afterAll(() => world.dispose());

  it('refuses what would make it more, whatever is pushed and by whichever door, and says which setting that is', async () => {
    const work = await world.work({ a: 'small' });
    const push = (door: 'ssh' | 'http', branch: string) => {
      const url = door === 'ssh' ? world.sshUrl('shop') : world.httpUrl('shop');
      return world.git(work, ['push', url, branch], key);
    };
    await world.commit(work, { large: randomBytes(2 * MIB) });
    expect(await push('ssh', 'main')).toMatchObject({ code: 0 });
    const served = await world.host.ref('shop', 'refs/heads/main');

    await world.commit(work, { larger: randomBytes(2 * MIB) });
    let deploys = 0;
    world.onDeploy = async () => void (deploys += 1);
    await world.git(work, ['branch', 'aside']);
    for (const door of ['ssh', 'http'] as const) {
      for (const branch of ['main', 'aside']) {
        const { code, stderr } = await push(door, branch);
        expect([door, branch, code]).toEqual([door, branch, 1]);
        const reported =
          /remote: The repository of shop would hold (\d) MiB, and may hold 3 MiB \(repositories\.max-size\)/;
        expect(Number(reported.exec(stderr)?.[1]), stderr).toBeGreaterThan(3);
        expect(stderr).toContain('TANCHO_REPOSITORIES_MAX_SIZE');
      }
    }
    expect(deploys).toBe(0);
    expect(await world.host.ref('shop', 'refs/heads/main')).toBe(served);
    expect(await world.host.ref('shop', 'refs/heads/aside')).toBeNull();

    // Nothing of what was refused is left in it.
    await world.git(work, ['reset', '--hard', 'HEAD~1']);
    await world.commit(work, { small: 'fits' });
    expect(await push('ssh', 'main')).toMatchObject({ code: 0 });
    expect(deploys).toBe(1);
  });

  it('that holds too much takes no archive', async () => {
    await world.host.create('blog');
    const send = () => {
      const bytes = pieces(tarOf([{ path: 'a', data: randomBytes(2 * MIB) }]));
      const signal = new AbortController().signal;
      return world.host.importArchive('blog', { bytes, signal, by: ANN, message: () => 'sent' });
    };
    await send();
    await send();
    await expect(send()).rejects.toMatchObject({
      code: 'input.too_large',
      message: expect.stringContaining('repositories.max-size'),
    });
  });
});

async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 60_000) yield bytes.subarray(at, at + 60_000);
}
