import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NOT_ROOT, skipFor } from '../../test/support/skips.ts';
import { systemView } from './system-view.ts';

/** Nobody's. */
const UNKNOWN = 64_323;

describe('systemView', () => {
  let folder = '';
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'tancho-view-')));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function programIn(...parts: string[]): string {
    const directory = join(folder, ...parts);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'node'), '');
    return join(directory, 'node');
  }

  it('has the whole installation of a runtime that lies elsewhere', () => {
    const view = systemView('/home/tancho', programIn('node-22', 'bin'));
    expect(view.directories).toContain(join(folder, 'node-22'));
    expect(view.directories).toContain('/usr');
  });

  it('has the program alone where its surroundings are not an installation, or hold the home', () => {
    for (const [home, program] of [
      ['/home/tancho', programIn('tools')],
      [join(folder, 'kit', 'home'), programIn('kit', 'bin')],
    ] as const) {
      const { directories } = systemView(home, program);
      expect(directories).toContain(program);
      expect(directories.filter((directory) => directory.startsWith(folder))).toEqual([program]);
    }
  });

  it('has of /etc what programs need, and none of what concerns the machine or other programs', () => {
    const view = systemView('/home/tancho');
    const shown = [...view.directories, ...view.links.map(({ path }) => path)].filter((path) =>
      path.startsWith('/etc'),
    );
    for (const name of ['hosts', 'nsswitch.conf', 'ssl', 'ld.so.cache']) {
      if (existsSync(`/etc/${name}`)) expect(shown).toContain(`/etc/${name}`);
    }
    expect(shown).not.toContain('/etc');
    for (const name of [
      'passwd',
      'group',
      'shadow',
      'ssh',
      'machine-id',
      'fstab',
      'postgresql',
      'redis',
      'cron.d',
      'pam.d',
    ]) {
      expect(shown).not.toContain(`/etc/${name}`);
    }
  });

  it("never has somebody's whole home", () => {
    expect(systemView('/srv/tancho').directories).not.toContain(homedir());
  });

  it(
    'is found by a user whom the machine does not know, and who has no HOME, as that of a keeper',
    skipFor(NOT_ROOT),
    () => {
      const view = pathToFileURL(join(import.meta.dirname, 'system-view.ts')).href;
      const program = `
      import { systemView } from ${JSON.stringify(view)};
      console.log(systemView('/srv/tancho', ${JSON.stringify(programIn('node-22', 'bin'))}).directories.join());`;
      chmodSync(folder, 0o755);
      const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
        ...{ uid: UNKNOWN, gid: UNKNOWN, env: {}, cwd: '/', encoding: 'utf8' },
      });
      expect(stderr).toBe('');
      expect(stdout).toContain(join(folder, 'node-22'));
    },
  );
});
