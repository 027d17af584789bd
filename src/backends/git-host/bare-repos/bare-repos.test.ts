import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipFor } from '../../../../test/support/skips.ts';
import { isPlatformError } from '../../../domain/errors.ts';
import { SILENT } from '../../../lib/logger.ts';
import { gitHostConformance } from '../conformance.ts';
import { type BareRepos, createBareRepos } from './bare-repos.ts';
import { itLong } from '../../../../test/support/long-cases.ts';

const HOOK = '#!/bin/sh\nexit 0\n';
const hasGit = spawnSync('git', ['version']).status === 0;

interface Repositories {
  readonly root: string;
  readonly host: BareRepos;
  git(app: string, args: readonly string[], input?: string | Buffer): string;
  /** Writes a commit from a `git mktree` description and answers its id. */
  commitTree(app: string, tree: string): string;
  blob(app: string, text: string | Buffer): string;
  dispose(): Promise<void>;
}

async function place(limits: { maxTreeEntries?: number; maxTreeBytes?: number } = {}): Promise<Repositories> {
  const root = await mkdtemp(join(tmpdir(), 'bare-repos-'));
  const host = await createBareRepos({ root: join(root, 'repositories'), preReceive: HOOK, logger: SILENT, ...limits });
  const env = {
    PATH: process.env['PATH'],
    HOME: root,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b',
  };
  const git: Repositories['git'] = (app, args, input = '') =>
    execFileSync('git', [`--git-dir=${join(root, 'repositories', `${app}.git`)}`, ...args], {
      env,
      input,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
      .toString()
      .trim();
  return {
    root,
    host,
    git,
    commitTree: (app, tree) => git(app, ['commit-tree', '-m', 'change', git(app, ['mktree', '--missing'], tree)]),
    blob: (app, text) => git(app, ['hash-object', '-w', '--stdin'], text),
    async dispose() {
      await host.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

if (hasGit) {
  gitHostConformance('bare-repos', async () => {
    const here = await place();
    return {
      host: here.host,
      dispose: here.dispose,
      async push(app, files) {
        const work = await mkdtemp(join(here.root, 'work-'));
        for (const [name, text] of Object.entries(files)) {
          await mkdir(dirname(join(work, name)), { recursive: true });
          await writeFile(join(work, name), text);
        }
        const index = [`--work-tree=${work}`, 'add', '-A', '.'];
        here.git(app, ['-c', 'core.bare=false', ...index]);
        const tree = here.git(app, ['write-tree']);
        const commit = here.git(app, ['commit-tree', '-m', 'change', tree]);
        here.git(app, ['update-ref', 'refs/heads/main', commit]);
        return commit;
      },
    };
  });
}

describe('bare repositories', skipFor(!hasGit && 'git is not installed'), () => {
  let here: Repositories;
  beforeAll(async () => {
    here = await place({ maxTreeEntries: 50, maxTreeBytes: 100_000 });
    await here.host.create('shop');
  });
  afterAll(() => here.dispose());

  async function refusalOf(commit: string): Promise<string> {
    const tree = await mkdtemp(join(here.root, 'tree-'));
    const extracting = here.host.source('shop', commit).extract(tree, new AbortController().signal);
    const error: unknown = await extracting.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(await readdir(tree)).toEqual([]);
    return isPlatformError(error, 'deploy.invalid_source') ? error.message : `not refused: ${String(error)}`;
  }

  it('leaves out links that leave the tree, and says so', async () => {
    const text = here.blob('shop', 'text');
    for (const target of ['/etc/passwd', '../outside', 'a/../../outside']) {
      const commit = here.commitTree(
        'shop',
        `100644 blob ${text}\tfile\n120000 blob ${here.blob('shop', target)}\tevil\n`,
      );
      const tree = await mkdtemp(join(here.root, 'tree-'));
      const notes: string[] = [];
      await here.host
        .source('shop', commit, undefined, (line) => notes.push(line))
        .extract(tree, new AbortController().signal);
      expect(await readdir(tree), target).toEqual(['file']);
      expect(notes.join('\n')).toContain('lead out of the repository are left out: evil');
    }
  });

  it('keeps links that stay inside, executables and odd names', async () => {
    const text = here.blob('shop', 'text');
    const inner = here.git('shop', ['mktree'], `120000 blob ${here.blob('shop', '../run')}\tlink\n`);
    const commit = here.commitTree(
      'shop',
      `100755 blob ${text}\trun\n040000 tree ${inner}\tsub\n100644 blob ${text}\t-rf spaced\n`,
    );
    const tree = await mkdtemp(join(here.root, 'tree-'));
    await here.host.source('shop', commit).extract(tree, new AbortController().signal);
    expect((await readdir(tree)).sort()).toEqual(['-rf spaced', 'run', 'sub']);
    expect((await stat(join(tree, 'run'))).mode & 0o111).not.toBe(0);
    expect(await readFile(join(tree, 'sub', 'link'), 'utf8')).toBe('text');
  });

  it('refuses a .git inside the tree, in any case', async () => {
    const text = here.blob('shop', 'x');
    for (const name of ['.git', '.GIT']) {
      const raw = Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(text, 'hex')]);
      const tree = here.git('shop', ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], raw);
      expect(await refusalOf(here.git('shop', ['commit-tree', '-m', 'x', tree]))).toContain(
        'repository inside the app',
      );
    }
  });

  it('refuses trees with too many entries or bytes, even when directories alone unfold without end', async () => {
    const big = here.blob('shop', 'x'.repeat(100_001));
    expect(await refusalOf(here.commitTree('shop', `100644 blob ${big}\tbig\n`))).toContain('larger than');
    let tree = here.git('shop', ['mktree'], '');
    for (let depth = 0; depth < 40; depth += 1) {
      tree = here.git('shop', ['mktree'], `040000 tree ${tree}\ta\n040000 tree ${tree}\tb\n`);
    }
    const bomb = here.git('shop', ['commit-tree', '-m', 'bomb', tree]);
    expect(await refusalOf(bomb)).toContain('more than 50 files');
  });

  it('refuses what is not a commit', async () => {
    expect(await refusalOf(here.git('shop', ['mktree'], ''))).toBe('What was pushed is not a commit.');
    expect(await refusalOf(here.blob('shop', 'x'))).toContain('commit');
  });

  it('leaves submodules empty and names them', async () => {
    const commit = here.commitTree('shop', `160000 commit ${'1'.repeat(40)}\tvendor\n`);
    const tree = await mkdtemp(join(here.root, 'tree-'));
    const source = here.host.source('shop', commit);
    await source.extract(tree, new AbortController().signal);
    expect(await readdir(join(tree, 'vendor'))).toEqual([]);
    expect(source.submodules?.()).toEqual([{ path: 'vendor', commit: '1'.repeat(40) }]);
  });

  it('names the files of Git LFS that are only pointers', async () => {
    const notes = async (attributes: string): Promise<string[]> => {
      const said: string[] = [];
      const tree = await mkdtemp(join(here.root, 'tree-'));
      const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0a'.repeat(32)}\nsize 12345\n`;
      const files = { '.gitattributes': attributes, 'logo.bin': pointer, 'page.txt': `${pointer}but more\n` };
      const entries = Object.entries(files).map(([path, text]) => `100644 blob ${here.blob('shop', text)}\t${path}\n`);
      await here.host
        .source('shop', here.commitTree('shop', entries.join('')), undefined, (line) => said.push(line))
        .extract(tree, new AbortController().signal);
      return said;
    };
    expect(await notes('*.txt text\n*.bin filter=lfs diff=lfs merge=lfs -text\n')).toEqual([
      'Files kept with Git LFS are not fetched, the app gets pointers in place of: logo.bin',
      expect.stringContaining('tancho deploy'),
    ]);
    expect(await notes('*.txt text\n# *.bin filter=lfs\n')).toEqual([]);
  });

  it('leaves nothing of its own behind', async () => {
    const left = await readdir(join(here.root, 'repositories', '.platform'));
    expect(left.sort()).toEqual(['.gitconfig', 'hooks']);
  });

  it('clears away at the start what a crash left', async () => {
    const other = await place();
    const repositories = join(other.root, 'repositories');
    await other.host.create('shop');
    await mkdir(join(repositories, '.removed-00ff', 'objects'), { recursive: true });
    await mkdir(join(repositories, '.platform', 'new-00'));
    await mkdir(join(repositories, 'shop.git', 'objects', 'tmp_objdir-incoming-abc'));
    await writeFile(join(repositories, 'shop.git', 'refs', 'heads', 'main.lock'), '');
    await createBareRepos({ root: repositories, preReceive: HOOK, logger: SILENT });
    expect((await readdir(repositories)).sort()).toEqual(['.platform', 'shop.git']);
    expect(await readdir(join(repositories, '.platform'))).not.toContain('new-00');
    expect(await readdir(join(repositories, 'shop.git', 'refs', 'heads'))).toEqual([]);
    expect(await readdir(join(repositories, 'shop.git', 'objects'))).not.toContain('tmp_objdir-incoming-abc');
    await other.dispose();
  });

  it('says so where git goes missing while the platform runs', async () => {
    const program = join(here.root, 'none');
    const host = await createBareRepos({ root: join(here.root, 'gone'), preReceive: HOOK, logger: SILENT, program });
    const tree = await mkdtemp(join(here.root, 'tree-'));
    const laidOut = host.source('shop', 'a'.repeat(40)).extract(tree, new AbortController().signal);
    await expect(laidOut).rejects.toMatchObject({ code: 'unavailable' });
    await host.close();
  });

  it('makes a repository whole that has lost its HEAD, with what it still has', async () => {
    const { host, root, git } = here;
    await host.create('headless');
    const commit = here.commitTree('headless', `100644 blob ${here.blob('headless', 'x')}\tx\n`);
    git('headless', ['update-ref', 'refs/heads/main', commit]);
    await rm(join(root, 'repositories', 'headless.git', 'HEAD'));
    expect(await host.exists('headless')).toBe(false);
    await host.create('headless');
    expect(await host.ref('headless', 'refs/heads/main')).toBe(commit);
    expect(git('headless', ['rev-parse', 'HEAD'])).toBe(commit);
  });

  it.each(['refs', 'objects'])('starts beside a repository that has lost its %s, and makes it whole', async (part) => {
    await here.host.create('torn');
    await rm(join(here.root, 'repositories', 'torn.git', part), { recursive: true });
    const other = await createBareRepos({ root: join(here.root, 'repositories'), preReceive: HOOK, logger: SILENT });
    expect(await other.exists('torn')).toBe(false);
    await other.create('torn');
    expect(await other.exists('torn')).toBe(true);
    expect(here.git('torn', ['fsck'])).toBe('');
    await other.close();
  });

  it('clears away what a git that was killed leaves, once nobody else writes there', async () => {
    const { host, root } = here;
    await host.create('killed');
    const repository = join(root, 'repositories', 'killed.git');
    const lock = join(repository, 'refs', 'heads', 'main.lock');
    const receive = { service: 'git-receive-pack', mode: 'stream', protocol: '', by: 'a@b' } as const;
    const [one, other] = [await host.serve('killed', receive), await host.serve('killed', receive)];
    for (const { hook, output } of [one, other]) {
      hook?.requests.on('error', () => {});
      output.resume();
    }
    await writeFile(lock, '');
    await mkdir(join(repository, 'objects', 'tmp_objdir-incoming-abc'));
    one.end();
    expect(await one.exited).toBeLessThan(0);
    expect(await stat(lock)).toBeDefined();
    other.input.end('0000');
    expect(await other.exited).toBe(0);
    await expect(stat(lock)).rejects.toThrow('ENOENT');
    expect(await readdir(join(repository, 'objects'))).not.toContain('tmp_objdir-incoming-abc');
    await host.remove('killed');
  });

  it('says in one line that git is missing or too old', async () => {
    expect(await here.host.checkGit()).toMatch(/^\d+\.\d+/);
    const old = join(here.root, 'old-git');
    await writeFile(old, '#!/bin/sh\necho "git version 2.20.1"\n');
    await chmod(old, 0o755);
    for (const [program, message] of [
      [old, 'git 2.20 is too old: the platform needs 2.28 or newer.'],
      [join(here.root, 'none'), 'git is not installed on the server.'],
    ] as const) {
      const host = await createBareRepos({ root: join(here.root, 'r'), preReceive: HOOK, logger: SILENT, program });
      await expect(host.checkGit()).rejects.toThrow(message);
    }
  });

  itLong('packs old objects in the background without losing any', async () => {
    const other = await place();
    await other.host.create('shop');
    const objects = join(other.root, 'repositories', 'shop.git', 'objects');
    let lines = '';
    for (let i = 0; i < 3_000; i += 1) {
      lines += `blob\ndata 5\n${String(i).padStart(5, '0')}\n`;
    }
    const pack = other.git('shop', ['-c', 'fastimport.unpackLimit=10000', 'fast-import', '--quiet'], lines);
    expect(pack).toBe('');
    const commit = other.commitTree('shop', `100644 blob ${other.blob('shop', 'packed')}\tfile\n`);
    other.git('shop', ['update-ref', 'refs/heads/main', commit]);
    await other.host.settle('shop', 'refs/heads/main');
    await other.host.idle();
    expect((await readdir(join(objects, 'pack'))).some((name) => name.endsWith('.pack'))).toBe(true);
    other.git('shop', ['pack-refs', '--all']);
    expect(await other.host.ref('shop', 'refs/heads/main')).toBe(commit);
    expect(other.git('shop', ['cat-file', 'blob', 'main:file'])).toBe('packed');
    await other.dispose();
  });
});
