import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import { AUTO_PLATFORM } from '../../../domain/platforms/platform.ts';
import type { BuildPlan } from '../../build-plan.ts';
import { planSource } from '../../plan-source.ts';
import { LANGUAGES } from '../built-in.ts';

async function plan(files: Record<string, string>): Promise<BuildPlan> {
  return (await planSource({ app: 'shop', platform: AUTO_PLATFORM, languages: LANGUAGES, files: sourceOf(files) }))
    .plan;
}

const SETUPTOOLS = 'setuptools, where packages import it';
const stepsOf = ({ dependencies, steps }: BuildPlan): string[] =>
  [...dependencies.flatMap((set) => set.steps), ...steps]
    .map(({ name }) => name)
    .filter((name) => name !== SETUPTOOLS && !name.endsWith(' run, for the environment'));
const project = (...names: string[]): string => `[project]\ndependencies = ${JSON.stringify(names)}`;

it('looks again at every list of packages that another one includes', async () => {
  const files = {
    'requirements.txt': '-r backend/all.txt\n-c deps/pins.txt\n',
    'backend/all.txt': '--requirement=../more/a.txt\ndjango\n',
    'deps/pins.txt': 'flask==3\n',
    'manage.py': '',
  };
  const { dependencies, title } = await plan(files);
  const included = ['backend/all.txt', 'deps/pins.txt', 'more/a.txt'];
  expect(dependencies[0]?.key.files).toEqual(expect.arrayContaining(included));
  expect([dependencies[0]?.neverKept, title]).toEqual([null, 'Django']);
  const own = await plan({ ...files, 'more/a.txt': './lib\n' });
  expect(own.dependencies[0]?.neverKept).toContain('more/a.txt');
});

it('names no list twice in the key, so that packages of earlier versions are found', async () => {
  const keyOf = async (files: Record<string, string>) => (await plan({ ...files, 'app.py': '' })).dependencies[0]?.key;
  const lists = { 'requirements/base.txt': 'flask\n', 'constraints.txt': 'flask==3\n' };
  const included = await keyOf({ 'requirements.txt': '-r requirements/base.txt\n-c constraints.txt\n', ...lists });
  expect(included).toEqual(await keyOf({ 'pyproject.toml': project('flask') }));
});

describe('a lock file beside pyproject.toml', () => {
  const lock = (...names: string[]): string =>
    names.map((name) => `[[package]]\nname = "${name}"\nversion = "1"\n`).join('\n');
  const source = {
    'pyproject.toml': project('Flask_Cors', 'b[c]>=1', "d ; sys_platform == 'win32'"),
    Procfile: 'web: x',
  };

  it('of uv is installed through the index of the server', async () => {
    const made = await plan({ ...source, 'uv.lock': lock('flask-cors', 'b') });
    expect([made.problems, stepsOf(made).slice(1)]).toEqual([[], ['reading uv.lock', 'uv pip install (uv.lock)']]);
    const [, reading] = made.dependencies[0]?.steps ?? [];
    expect(reading?.run).toEqual(expect.arrayContaining(['export', '--frozen', '--no-dev']));
    expect(made.dependencies[0]?.neverKept).toBeNull();
  });

  it('of uv with indexes of its own is left to uv, and parts of the source are never kept', async () => {
    const own = '\n[[tool.uv.index]]\nurl = "https://index.test"\n[tool.uv.sources]\nb = { path = "b" }';
    const made = await plan({
      ...source,
      'pyproject.toml': source['pyproject.toml'] + own,
      'uv.lock': lock('flask-cors', 'b'),
    });
    expect(stepsOf(made).slice(1)).toEqual(['uv sync (uv.lock)']);
    expect(made.dependencies[0]?.neverKept).toContain('tool.uv.sources');
  });

  it('of poetry with a directory of the source is never kept', async () => {
    const project = '[tool.poetry.dependencies]\npython = "^3.9"\nb = { path = "./b" }\n';
    const [set] = (await plan({ 'pyproject.toml': project, Procfile: 'web: x' })).dependencies;
    expect(set?.neverKept).toContain('tool.poetry.dependencies');
  });

  it.each([
    ['poetry', '[tool.poetry.dependencies]\npython = "^3.9"\nb = "^1"\n'],
    ['pdm', '[project]\nname = "a"\ndependencies = ["b"]\n'],
  ])('of %s decides the versions', async (name, project) => {
    const files = { 'pyproject.toml': project, Procfile: 'web: x' };
    const made = await plan({ ...files, [`${name}.lock`]: lock('b') });
    const steps = stepsOf(made).slice(1);
    expect([made.problems, steps]).toEqual([[], ['reading pyproject.toml', `uv pip install (${name}.lock)`]]);
    const message = `${name}.lock does not fit pyproject.toml: pyproject.toml line 3 asks for b, which is not locked.`;
    const hint = `Run "${name} lock" in the app, commit ${name}.lock and push again.`;
    const old = await plan({ ...files, [`${name}.lock`]: lock('x') });
    expect(old.problems).toMatchObject([{ message, hint }]);
  });

  it('of uv that does not fit is reported with the line', async () => {
    expect((await plan({ ...source, 'uv.lock': lock('flask-cors') })).problems).toMatchObject([
      { message: 'uv.lock does not fit pyproject.toml: pyproject.toml line 2 asks for b, which is not locked.' },
    ]);
  });
});

describe('a Pipfile', () => {
  const PIPFILE = '[packages]\nflask = "*"\n[dev-packages]\npytest = "*"\n[requires]\npython_version = "3.11"\n';
  const lock = (packages: Record<string, unknown>): string =>
    JSON.stringify({
      _meta: { sources: [{ url: 'https://pypi.org/simple' }] },
      default: packages,
      develop: { pytest: {} },
    });
  const source = (packages: Record<string, unknown>) => ({
    Pipfile: PIPFILE,
    'Pipfile.lock': lock(packages),
    Procfile: 'web: x',
  });
  const textOf = ({ files }: BuildPlan): string[] =>
    files.flatMap((file) => ('text' in file ? file.text.trim().split('\n') : []));

  it('is installed at the versions that are locked', async () => {
    const made = await plan(
      source({
        Flask: {
          version: '==3.0.0',
          hashes: ['sha256:a', 'sha256:b'],
          markers: "python_version >= '3.8'",
          index: 'pypi',
        },
        a: { git: 'https://git.test/a.git', ref: 'abc', extras: ['x', 'y'] },
        b: { path: './b', editable: true },
      }),
    );
    expect(textOf(made)).toEqual([
      "Flask==3.0.0 ; (python_version >= '3.8')",
      'a[x,y] @ git+https://git.test/a.git@abc',
      '-e ./b',
    ]);
    expect(stepsOf(made)).toEqual(['python3 -m venv', 'uv pip install (Pipfile.lock)']);
    expect(made.dependencies[0]?.neverKept).toContain('Pipfile.lock');
    expect(made.tools[0]?.wanted).toMatchObject({ text: '3.11', from: 'requires.python_version in Pipfile' });
    expect(made.problems).toEqual([]);
  });

  it('is installed with the hashes that are locked, when there is one of every package', async () => {
    const made = await plan(source({ flask: { version: '==3.0.0', hashes: ['sha256:a', 'sha256:b'] } }));
    expect(textOf(made)).toEqual(['flask==3.0.0 --hash=sha256:a --hash=sha256:b']);
  });

  it('is installed without a lock, and says so', async () => {
    const Pipfile =
      '[[source]]\nurl = "https://index.test/simple"\n[packages]\nflask = "*"\nb = "~=1.2"\nc = {version = ">=2", extras = ["d"], sys_platform = "== \'linux\'"}\n';
    const made = await plan({ Pipfile, Procfile: 'web: x' });
    expect(textOf(made)).toEqual([
      '--extra-index-url https://index.test/simple',
      ...['flask', 'b~=1.2', "c[d]>=2 ; (sys_platform == 'linux')"],
    ]);
    expect(made.notes).toContainEqual(expect.stringContaining('There is no Pipfile.lock'));
  });

  it('that its lock does not fit is reported with the line', async () => {
    expect((await plan(source({ click: { version: '==8.0.0' } }))).problems).toMatchObject([
      { message: 'Pipfile.lock does not fit Pipfile: Pipfile line 2 asks for flask, which is not locked.' },
    ]);
  });
});
