/** Two git hosts on one store: what is pushed to one is at the other. With real git and both doors. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ANN } from '../../../../../test/support/git-people.ts';
import { createGitWorld, type GitWorld } from '../../../../../test/support/git-world.ts';
import { gate, missingPrograms } from '../../../../../test/support/programs.ts';
import { createTestDatabase } from '../../../../../test/support/postgres.ts';
import { skipFor } from '../../../../../test/support/skips.ts';
import { tarOf } from '../../../../../test/support/tar-writer.ts';
import type { Store } from '../../../../domain/store.ts';
import { SILENT } from '../../../../lib/logger.ts';
import { newSealKey, Sealer } from '../../../../lib/seal.ts';
import { createSqlStore, type SqlStoreOptions } from '../../../store/sql/index.ts';
import { createBareRepos } from '../bare-repos.ts';

const missing = missingPrograms();

const opened = (options: SqlStoreOptions): Promise<Store> =>
  createSqlStore(options, { sealer: new Sealer([newSealKey()]), logger: SILENT });

const database = missing === '' ? await createTestDatabase() : null;
const kinds: readonly SqlStoreOptions['kind'][] = database === null ? ['sqlite'] : ['sqlite', 'postgres'];

describe.each(kinds)('two git hosts on one store (%s)', skipFor(missing), (kind) => {
  let folder: string;
  let store: Store;
  let [one, two]: GitWorld[] = [];
  let keys: Map<GitWorld, string>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shared-store-'));
    store = await opened(
      kind === 'sqlite' ? { kind, file: join(folder, 'tancho.db') } : { kind, url: database?.url ?? '' },
    );
    one = await createGitWorld({ store });
    two = await createGitWorld({ store });
    keys = new Map([one, two].map((world) => [world, world.key('ed25519', ANN)]));
  });
  beforeEach(async () => {
    await first().host.remove('shop');
    await first().host.create('shop');
    for (const world of [first(), second()]) world.onDeploy = async () => {};
  });
  afterAll(async () => {
    await Promise.all([first().dispose(), second().dispose()]);
    await store.close();
    if (kind === 'postgres') await database?.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  const first = (): GitWorld => one ?? expect.fail('no world');
  const second = (): GitWorld => two ?? expect.fail('no world');
  const git = (world: GitWorld, cwd: string, ...args: string[]) => world.git(cwd, args, keys.get(world));
  const push = (world: GitWorld, work: string, ...args: string[]) =>
    git(world, work, 'push', world.sshUrl('shop'), ...args);

  async function clone(world: GitWorld): Promise<string> {
    const directory = await mkdtemp(join(world.root, 'clone-'));
    const cloned = await git(world, directory, 'clone', '-q', world.sshUrl('shop'), '.');
    expect(cloned.code, cloned.stderr).toBe(0);
    return directory;
  }

  async function upload(text: string): Promise<string> {
    const tar = tarOf([{ path: 'index.html', data: text }]);
    const bytes = (async function* () {
      yield tar;
    })();
    const { signal } = new AbortController();
    return (await first().host.importArchive('shop', { bytes, message: () => 'came', by: ANN, signal })).commit;
  }

  it('what is pushed to one is cloned from the other, changed there, and fetched from the first', async () => {
    const work = await first().work({ 'index.html': 'one\n' });
    expect((await push(first(), work, 'main')).code).toBe(0);
    const there = await clone(second());
    expect(await readFile(join(there, 'index.html'), 'utf8')).toBe('one\n');
    await second().commit(there, { 'index.html': 'two\n' });
    await git(second(), there, 'tag', '-a', 'v2', '-m', 'two');
    const pushed = await push(second(), there, 'main', 'v2', 'HEAD:refs/heads/dev');
    expect(pushed.code, pushed.stderr).toBe(0);
    const again = await clone(first());
    expect(await readFile(join(again, 'index.html'), 'utf8')).toBe('two\n');
    expect((await git(first(), again, 'rev-parse', 'v2^{}', 'origin/dev')).stdout.trim().split('\n')).toHaveLength(2);
    expect((await git(first(), again, 'fsck', '--full')).code).toBe(0);
    expect((await push(first(), again, '--delete', 'dev')).code).toBe(0);
    expect((await git(second(), there, 'ls-remote', second().sshUrl('shop'))).stdout).not.toContain('dev');
  });

  it('of two pushes at the same time to both exactly one wins, and the other is asked to fetch', async () => {
    const work = await first().work({ a: 'base' });
    expect((await push(first(), work, 'main')).code).toBe(0);
    const works = [first(), second()].map((world) => ({ world }));
    const clones = new Map(await Promise.all(works.map(async ({ world }) => [world, await clone(world)] as const)));
    const both = gate();
    let deploying = 0;
    for (const { world } of works) {
      await world.commit(clones.get(world) ?? '', { a: `by ${world.root}` });
      world.onDeploy = async () => {
        deploying += 1;
        if (deploying === 2) both.open();
        await both.opened;
      };
    }
    const ended = await Promise.all(works.map(({ world }) => push(world, clones.get(world) ?? '', 'main')));
    expect(ended.map(({ code }) => code).sort()).toEqual([0, 1]);
    const loser = ended.find(({ code }) => code === 1)?.stderr ?? '';
    expect(loser).toContain('The branch main has moved meanwhile: somebody else pushed.');
    const winner = works[ended.findIndex(({ code }) => code === 0)]?.world ?? expect.fail('nobody won');
    for (const { world } of works) {
      expect(await readFile(join(await clone(world), 'a'), 'utf8')).toBe(`by ${winner.root}`);
    }
    // Who lost does what the message says, and it works.
    const lost = works.find(({ world }) => world !== winner)?.world ?? expect.fail('nobody lost');
    lost.onDeploy = async () => {};
    const there = clones.get(lost) ?? '';
    const pulled = await git(lost, there, 'pull', '-q', '--rebase', '-X', 'theirs', lost.sshUrl('shop'), 'main');
    expect(pulled.code, pulled.stderr).toBe(0);
    expect((await push(lost, there, 'main')).code).toBe(0);
  });

  it('what is refused leaves nothing in the store', async () => {
    const work = await first().work({ a: 'refused' });
    first().onDeploy = async () => {
      throw new Error('no');
    };
    expect((await push(first(), work, 'main')).code).toBe(1);
    const before = await store.repository('shop');
    expect(before?.refs).toEqual({});
    expect(before?.packs).toEqual([]);
    expect((await store.strayPacks('9999')).filter(({ app }) => app === 'shop')).toEqual([]);
  });

  it('many packs become one, which has all that the references name and nothing else', async () => {
    const work = await first().work({ a: 'kept' });
    expect((await push(first(), work, 'main')).code).toBe(0);
    await first().commit(work, { a: 'gone' });
    expect((await push(first(), work, 'main:dev')).code).toBe(0);
    const thrownAway = (await git(first(), work, 'rev-parse', 'HEAD')).stdout.trim();
    expect((await push(first(), work, '--delete', 'dev')).code).toBe(0);
    const commits: string[] = [];
    for (let n = 0; n < 49; n++) commits.push(await upload(`${n}\n`));
    await first().host.idle();
    expect((await store.repository('shop'))?.packs).toHaveLength(1);
    expect(await store.strayPacks('9999')).toEqual([]);
    const there = await clone(second());
    expect((await git(second(), there, 'fsck', '--full')).code).toBe(0);
    expect(await second().host.diff('shop', commits[0] ?? '', commits.at(-1) ?? '')).toContain('-0\n+48\n');
    expect(await second().host.diff('shop', commits[0] ?? '', thrownAway)).toBe('');
    await second().commit(there, { a: 'after' });
    const pushed = await push(second(), there, 'main');
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(await readFile(join(await clone(first()), 'a'), 'utf8')).toBe('after');
  });

  it('a shallow push can be cloned from the other', async () => {
    const work = await first().work({ a: 'one' });
    await first().commit(work, { a: 'two' });
    const shallow = await mkdtemp(join(first().root, 'shallow-'));
    await git(first(), shallow, 'clone', '-q', '--depth', '1', `file://${work}`, '.');
    const pushed = await push(first(), shallow, 'main');
    expect(pushed.code, pushed.stderr).toBe(0);
    expect((await store.repository('shop'))?.shallow).toHaveLength(1);
    expect(await readFile(join(await clone(second()), 'a'), 'utf8')).toBe('two');
  });

  it('an app that is made anew under the same name has nothing of the one before, at either', async () => {
    const work = await first().work({ a: 'secret' });
    expect((await push(first(), work, 'main')).code).toBe(0);
    await clone(second());
    await first().host.remove('shop');
    await second().host.create('shop');
    for (const world of [second(), first()]) {
      const listed = await git(world, world.root, 'ls-remote', world.sshUrl('shop'));
      expect([listed.code, listed.stdout]).toEqual([0, '']);
    }
    expect(await readdir(join(second().root, 'repositories', 'shop.git', 'objects', 'pack'))).toEqual([]);
  });

  it('an archive that came to one can be laid out, and compared, at the other', async () => {
    const [before, after] = [await upload('old\n'), await upload('new\n')];
    const tree = await mkdtemp(join(second().root, 'tree-'));
    await second().host.source('shop', after).extract(tree, new AbortController().signal);
    expect(await readFile(join(tree, 'index.html'), 'utf8')).toBe('new\n');
    expect(await second().host.diff('shop', before, after)).toContain('-old\n+new\n');
  });

  it("what others have brought is a machine's own once it keeps all, and is in another store from the first look on", async () => {
    const work = await first().work({ 'index.html': 'brought to one\n' });
    expect((await push(first(), work, 'main')).code).toBe(0);
    await second().host.keepAll();
    const local = await createBareRepos({ root: join(second().root, 'repositories'), preReceive: '', logger: SILENT });
    const folder = await mkdtemp(join(second().root, 'later-'));
    const later = await opened({ kind: 'sqlite', file: join(folder, 'tancho.db') });
    try {
      const shared = await local.sharedBy(later);
      await shared.create('shop');
      expect((await later.repository('shop'))?.refs).toEqual((await store.repository('shop'))?.refs);
      expect((await later.repository('shop'))?.packs).toHaveLength(1);
    } finally {
      await later.close();
      await local.close();
    }
  });

  it('what lay on this machine before it was shared is in the store from the first look on', async () => {
    const alone = await createGitWorld();
    try {
      const key = alone.key('ed25519', ANN);
      const work = await alone.work({ a: 'of before' });
      expect((await alone.git(work, ['push', alone.sshUrl('shop'), 'main'], key)).code).toBe(0);
      await first().host.remove('shop');
      const shared = await alone.host.sharedBy(store);
      await shared.create('shop');
      expect(await readFile(join(await clone(second()), 'a'), 'utf8')).toBe('of before');
    } finally {
      await alone.dispose();
    }
  });
});
