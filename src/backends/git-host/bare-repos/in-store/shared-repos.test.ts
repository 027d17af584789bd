/** What is pushed to one git host is at another one on the same store: the suite of all git hosts. shared-repos.long.test.ts has both doors and PostgreSQL. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openEmptyStore } from '../../../../../test/support/empty-databases.ts';
import { SILENT } from '../../../../lib/logger.ts';
import { gitHostConformance } from '../../conformance.ts';
import { type BareRepos, createBareRepos } from '../bare-repos.ts';

const NONE = '0'.repeat(40);
const MAIN = 'refs/heads/main';
const hasGit = spawnSync('git', ['version']).status === 0;

if (hasGit) {
  gitHostConformance('shared, by what another one has taken', async () => {
    const root = await mkdtemp(join(tmpdir(), 'shared-repos-'));
    const store = await openEmptyStore(root);
    const host = async (name: string): Promise<BareRepos> => {
      const options = { root: join(root, name), preReceive: '#!/bin/sh\nexit 0\n', logger: SILENT };
      return (await createBareRepos(options)).sharedBy(store);
    };
    const [one, other] = [await host('one'), await host('other')];
    const env = { PATH: process.env['PATH'], HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
    const person = {
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@b',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@b',
    };
    return {
      host: one,
      async push(app, files) {
        // A copy that is not the newest is updated.
        await other.diff(app, '', '');
        const repository = join(root, 'other', `${app}.git`);
        const quarantine = join(repository, 'objects', 'incoming-test');
        const work = await mkdtemp(join(root, 'work-'));
        for (const [name, text] of Object.entries(files)) {
          await mkdir(dirname(join(work, name)), { recursive: true });
          await writeFile(join(work, name), text);
        }
        await mkdir(quarantine, { recursive: true });
        const git = (...args: string[]): string =>
          execFileSync('git', [`--git-dir=${repository}`, ...args], {
            env: { ...env, ...person, GIT_OBJECT_DIRECTORY: quarantine, GIT_INDEX_FILE: `${work}.index` },
          })
            .toString()
            .trim();
        git('-c', 'core.bare=false', `--work-tree=${work}`, 'add', '-A', '.');
        const to = git('commit-tree', '-m', 'change', git('write-tree'));
        const from = (await other.ref(app, MAIN)) ?? NONE;
        const kept = await other.keepPush(app, { updates: [{ ref: MAIN, from, to }], quarantine, branch: MAIN });
        await kept?.accept();
        await kept?.end('accepted');
        await rm(quarantine, { recursive: true });
        return to;
      },
      async dispose() {
        await Promise.all([one.close(), other.close()]);
        await store.close();
        await rm(root, { recursive: true, force: true });
      },
    };
  });
}
