/** The scripts that the build of a Python app runs beside uv, run by a real Python. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PLATFORM_FILES } from '../support/builder-world.ts';
import { skipFor } from '../support/skips.ts';

const run = promisify(execFile);
const hasPython = await run('python3', ['--version']).then(
  () => true,
  () => false,
);

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'scripts-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

interface Ended {
  readonly code: number;
  readonly output: string;
}

async function script(name: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const path = join(PLATFORM_FILES, 'python', name);
  const options = { cwd: home, timeout: 60_000, env: { PATH: process.env['PATH'] ?? '', ...env } };
  try {
    const { stdout, stderr } = await run('python3', [path, ...args], options);
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
}

async function write(files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), text);
  }
}

describe('setuptools', skipFor(!hasPython && 'there is no Python'), () => {
  const install = ['echo', 'installing'];
  const packages = (version: string, files: Record<string, string>): Promise<void> =>
    write(
      Object.fromEntries(
        Object.entries(files).map(([path, text]) => [`layer/lib/python${version}/site-packages/${path}`, text]),
      ),
    );

  it.each<[string, string, Record<string, string>, string | null]>([
    [
      'a package that imports it',
      '3.11',
      { 'gunicorn/util.py': 'import os\nimport pkg_resources\n' },
      'gunicorn/util.py',
    ],
    [
      'one that can do without',
      '3.11',
      { 'a/b.py': 'try:\n    import pkg_resources\nexcept ImportError:\n    pass\n' },
      null,
    ],
    ['tests of packages', '3.11', { 'a/tests/b.py': 'import pkg_resources\n' }, null],
    ['an environment that has it', '3.11', { 'a.py': 'import pkg_resources\n', 'pkg_resources/__init__.py': '' }, null],
    ['distutils, which Python 3.11 has', '3.11', { 'a.py': 'from distutils.version import LooseVersion\n' }, null],
    ['distutils, which Python 3.12 lacks', '3.12', { 'a.py': 'from distutils.version import LooseVersion\n' }, 'a.py'],
  ])('of %s', async (_what, version, files, named) => {
    await packages(version, { 'other.py': '', ...files });
    const { code, output } = await script('old_imports.py', ['layer', ...install]);
    expect(code).toBe(0);
    if (named === null) expect(output).toBe('');
    else expect(output).toMatch(new RegExp(`^${named} imports \\w+, .*\\ninstalling setuptools<81\\n$`));
  });

  it('fails as what installs it fails', async () => {
    await packages('3.11', { 'a.py': 'import pkg_resources\n' });
    expect(await script('old_imports.py', ['layer', 'sh', '-c', 'exit 3'])).toMatchObject({ code: 3 });
  });
});

describe('the way uv fills an environment', skipFor(!hasPython && 'there is no Python'), () => {
  /** The link mode that uv is given, as a stand-in prints it, beside a Python of its own. */
  async function linkMode(cache: string, environment: string): Promise<string> {
    await mkdir(join(home, 'bin'), { recursive: true });
    await mkdir(environment, { recursive: true });
    const { stdout: python } = await run('python3', ['-c', 'import sys; print(sys.executable)']);
    await symlink(python.trim(), join(home, 'bin/python'));
    await writeFile(join(home, 'bin/uv'), '#!/bin/sh\necho "$UV_LINK_MODE"\n', { mode: 0o755 });
    const env = { UV_LINK_MODE: 'copy', UV_CACHE_DIR: cache, UV_PROJECT_ENVIRONMENT: environment };
    const { stdout } = await run(join(home, 'bin/python'), [join(PLATFORM_FILES, 'python/uv.py'), 'pip'], { env });
    expect(await readdir(environment)).toEqual([]);
    return stdout.trim();
  }

  it('is by links as long as nothing is in its cache', async () => {
    await mkdir(join(home, 'downloads'));
    expect(await linkMode(join(home, 'downloads/uv'), join(home, 'layer'))).toBe('hardlink');
  });

  it('is by copies of what is in its cache', async () => {
    await mkdir(join(home, 'downloads/uv'), { recursive: true });
    expect(await linkMode(join(home, 'downloads/uv'), join(home, 'layer'))).toBe('copy');
  });

  it('is by copies where no file can be linked', async () => {
    expect(await linkMode(join(home, 'nowhere/uv'), join(home, 'layer'))).toBe('copy');
  });
});

describe('collectstatic', skipFor(!hasPython && 'there is no Python'), () => {
  const collect = (env: Record<string, string> = {}): Promise<Ended> =>
    script('collectstatic.py', ['shop/manage.py'], env);
  const manage = (body: string): Promise<void> =>
    write({
      'shop/manage.py': `import sys\nimport beside\n${body}\n`,
      'shop/beside.py': 'class ImproperlyConfigured(Exception):\n    pass\n',
    });

  it('is what manage.py does with it', async () => {
    await manage('print(sys.argv, __name__)');
    const argv = "['shop/manage.py', 'collectstatic', '--noinput', '--verbosity', '1'] __main__\n";
    expect(await collect()).toEqual({ code: 0, output: argv });
  });

  it('warns, and lets the build go on, where the settings have no STATIC_ROOT here', async () => {
    await manage('raise beside.ImproperlyConfigured("... having set the STATIC_ROOT setting to a filesystem path.")');
    expect(await collect()).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^Warning: static files/) as string,
    });
  });

  it.each(['raise beside.ImproperlyConfigured("SECRET_KEY")', 'raise KeyError("PGDATABASE")', 'sys.exit(1)'])(
    'fails the build by %s, and says how to build without it',
    async (body) => {
      await manage(body);
      const { code, output } = await collect();
      expect(code).toBe(1);
      expect(output).toContain('tancho env set DISABLE_COLLECTSTATIC=1');
      expect(await collect({ DISABLE_COLLECTSTATIC: '1' })).toMatchObject({ code: 0 });
    },
  );
});

describe('a stand-in', skipFor(!hasPython && 'there is no Python'), () => {
  async function ran(name: string, args: readonly string[]): Promise<Ended> {
    await mkdir(join(home, 'bin'), { recursive: true });
    const path = join(home, 'bin', name);
    await copyFile(join(PLATFORM_FILES, 'python', 'runner.py'), path);
    // What would be run says so.
    for (const program of ['python', 'gunicorn']) {
      await writeFile(join(home, 'bin', program), `#!/bin/sh\necho ${program} "$@"\n`, { mode: 0o755 });
    }
    const options = { cwd: home, timeout: 60_000, env: { PATH: `${home}/bin:${process.env['PATH'] ?? ''}` } };
    // What is called python3 may be a program that changes where others are found.
    const { stdout: python } = await run('python3', ['-c', 'import sys; print(sys.executable)']);
    return run(python.trim(), [path, ...args], options).then(
      ({ stdout }) => ({ code: 0, output: stdout }),
      ({ code, stderr }: { code: number; stderr: string }) => ({ code, output: stderr }),
    );
  }

  it.each<[string, string[], string]>([
    ['uv', ['run', '--frozen', 'gunicorn', '-b', ':1'], 'gunicorn -b :1'],
    ['uv', ['--directory', 'x', 'run', '--group', 'dev', '--', 'gunicorn'], 'gunicorn'],
    ['uv', ['run', 'main.py', '--x'], 'python main.py --x'],
    ['uv', ['run', '-m', 'shop'], 'python -m shop'],
    ['poetry', ['run', 'gunicorn', 'a:b'], 'gunicorn a:b'],
    ['pipenv', ['run', 'gunicorn'], 'gunicorn'],
  ])('of %s %j', async (name, args, expected) => {
    expect(await ran(name, args)).toEqual({ code: 0, output: `${expected}\n` });
  });

  it.each<[string, string[], RegExp]>([
    ['uv', ['sync'], /^uv sync is not there.*What works is: uv run <command>/],
    ['uv', ['run', '--with', 'x', 'y'], /add it to the packages/],
    ['poetry', ['run'], /^poetry run needs a command/],
    ['poetry', ['run', 'nothing-of-this-name'], /there is no program nothing-of-this-name/],
  ])('refuses %s %j, and says why', async (name, args, expected) => {
    expect(await ran(name, args)).toEqual({ code: 2, output: expect.stringMatching(expected) as string });
  });

  const readsToml = (): Promise<boolean> =>
    run('python3', ['-c', 'import tomllib']).then(
      () => true,
      () => false,
    );

  it.each([
    ['uv', '[project.scripts]\nserve = "shop.cli:main"\n'],
    ['poetry', '[tool.poetry.scripts]\nserve = "shop.cli:main"\n'],
  ])('of %s runs a script of the project itself, which is not installed', async (name, project) => {
    if (!(await readsToml())) return;
    await write({ 'pyproject.toml': project });
    const code = "import sys; sys.argv[0] = 'serve'; from shop.cli import main; sys.exit(main())";
    expect(await ran(name, ['run', 'serve', '-x'])).toEqual({ code: 0, output: `python -c ${code} -x\n` });
    expect(await ran(name, ['run', 'gunicorn'])).toEqual({ code: 0, output: 'gunicorn\n' });
    expect(await ran(name, ['run', 'other'])).toMatchObject({ code: 2 });
  });

  it('of pipenv knows the scripts of Pipfile', async (context) => {
    if (!(await readsToml())) context.skip('this Python reads no TOML');
    await write({ Pipfile: '[scripts]\nserve = "gunicorn \'a b\'"\n' });
    expect(await ran('pipenv', ['run', 'serve', '-x'])).toEqual({ code: 0, output: 'gunicorn a b -x\n' });
  });
});
