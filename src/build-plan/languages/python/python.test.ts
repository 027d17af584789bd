import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import { AUTO_PLATFORM } from '../../../domain/platforms/platform.ts';
import type { BuildPlan } from '../../build-plan.ts';
import { planSource } from '../../plan-source.ts';
import { LANGUAGES } from '../built-in.ts';

async function plan(files: Record<string, string | Uint8Array>, platform = AUTO_PLATFORM): Promise<BuildPlan> {
  return (await planSource({ app: 'shop', platform, languages: LANGUAGES, files: sourceOf(files) })).plan;
}

const SETUPTOOLS = 'setuptools, where packages import it';
const allSteps = ({ dependencies, steps }: BuildPlan): string[] =>
  [...dependencies.flatMap((set) => set.steps), ...steps].map(({ name }) => name);
const stepsOf = (made: BuildPlan): string[] =>
  allSteps(made).filter((name) => name !== SETUPTOOLS && !name.endsWith(' run, for the environment'));
const web = ({ processes }: BuildPlan): string | undefined => processes['web']?.command;
const project = (...names: string[]): string => `[project]\ndependencies = ${JSON.stringify(names)}`;

describe('python', () => {
  it.each<[string | null, Record<string, string>, string | null]>([
    [null, {}, null],
    ['.python-version', { '.python-version': '3.12.4\n' }, '3.12.4'],
    ['runtime.txt', { 'runtime.txt': 'python-3.11.9' }, '3.11.9'],
    ['.tool-versions', { '.tool-versions': 'nodejs 22\npython 3.13' }, '3.13'],
    ['requires-python in pyproject.toml', { 'pyproject.toml': '[project]\nrequires-python = ">=3.10"' }, '>=3.10'],
    ['pyproject.toml', { 'pyproject.toml': '[tool.poetry.dependencies]\npython = "^3.11"' }, '^3.11'],
  ])('of the version that %s names, with %j', async (from, files, text) => {
    const { tools } = await plan({ 'app.py': '', ...files }, 'python');
    expect([tools[0]?.wanted?.from ?? null, tools[0]?.wanted?.text ?? null]).toEqual([from, text]);
  });

  it('says when it is no version, and names the line of a mistake in pyproject.toml', async () => {
    const { notes, tools } = await plan({ 'app.py': '', '.python-version': 'pypy3.9' }, 'python');
    expect([tools[0]?.wanted, notes[0]]).toEqual([null, expect.stringContaining('"pypy3.9", which is no version')]);
    await expect(plan({ 'pyproject.toml': '[project]\nname = \n' })).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringMatching(/^pyproject.toml line 2 is not valid TOML: /) as string,
      hint: 'Correct pyproject.toml and push again.',
    });
  });

  it('installs what requirements.txt or pyproject.toml names', async () => {
    expect(stepsOf(await plan({ 'requirements.txt': 'flask', 'pyproject.toml': '' }))).toEqual([
      'python3 -m venv',
      'uv pip install (requirements.txt)',
    ]);
    const project = await plan({ 'pyproject.toml': '' });
    expect(stepsOf(project)).toEqual(['python3 -m venv', 'reading pyproject.toml', 'uv pip install (pyproject.toml)']);
    expect(project.files.map(({ to }) => to)).toEqual([
      '.tancho/uv.py',
      '.tancho/old_imports.py',
      '.tancho/requirements.py',
    ]);
    const own = await plan({ 'requirements.txt': '-e .\n' });
    expect(own.dependencies[0]?.neverKept).toContain('requirements.txt');
  });

  it('brings setuptools to packages that import it, unless the source asks for it itself', async () => {
    expect(allSteps(await plan({ 'requirements.txt': 'gunicorn==20.0.4' })).at(-1)).toBe(SETUPTOOLS);
    expect(allSteps(await plan({ 'requirements.txt': 'gunicorn==20.0.4\nsetuptools==82' }))).not.toContain(SETUPTOOLS);
    expect(allSteps(await plan({ 'main.py': 'os.environ["PORT"]' }))).not.toContain(SETUPTOOLS);
  });

  it.each<[Record<string, string>, string | undefined]>([
    [{ 'requirements.txt': '\uFEFFFlask\r\nGunicorn==20', 'app.py': 'import x\napp = Flask()' }, 'app:app'],
    [{ 'requirements.txt': 'gunicorn', 'wsgi.py': 'application = x' }, 'wsgi'],
    [{ 'requirements.txt': 'gunicorn', 'wsgi.py': 'app = x' }, 'wsgi:app'],
    [{ 'requirements.txt': '# gunicorn', 'wsgi.py': 'app = x' }, undefined],
    [{ 'pyproject.toml': project('gunicorn>=2'), 'manage.py': '', 'shop/wsgi.py': '' }, 'shop.wsgi'],
  ])('of %j starts %s', async (files, module) => {
    const command = module === undefined ? undefined : `gunicorn --bind 0.0.0.0:$PORT ${module}`;
    expect(web(await plan(files))).toBe(command);
  });
});

describe('uv run, poetry run and pipenv run', () => {
  const runners = (made: BuildPlan): (string | undefined)[] =>
    (made.dependencies[0]?.steps ?? []).filter(({ run }) => run[0] === 'install').map(({ run }) => run.at(-1));

  it.each<[Record<string, string>, string[]]>([
    [{ 'pyproject.toml': project(), 'uv.lock': '', Procfile: 'web: x' }, ['{layer}/bin/uv']],
    [{ 'pyproject.toml': project(), 'poetry.lock': '', Procfile: 'web: x' }, ['{layer}/bin/poetry']],
    [{ Pipfile: '[packages]\n', Procfile: 'web: x' }, ['{layer}/bin/pipenv']],
    [{ 'requirements.txt': 'flask', Procfile: 'web: A=1 poetry run python x.py' }, ['{layer}/bin/poetry']],
    [{ 'requirements.txt': 'uv', Procfile: 'web: uv run x.py' }, []],
    [{ 'requirements.txt': 'flask', Procfile: 'web: python uv.py' }, []],
  ])('of %j', async (files, expected) => {
    expect(runners(await plan(files))).toEqual(expected);
  });

  it.each(['poetry run gunicorn a:b', 'uv run --frozen gunicorn a:b', 'A=1 exec python3 -m gunicorn a:b'])(
    'do not hide the server that "%s" needs',
    async (command) => {
      const made = await plan({ 'requirements.txt': 'flask', Procfile: `web: ${command}` });
      expect(stepsOf(made)).toContain('uv pip install gunicorn');
    },
  );
});

describe('what starts an app', () => {
  const DJANGO = {
    'manage.py': "import os\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'config.settings.local')\n",
    'config/settings/local.py': 'from .base import *\n',
    'config/settings/base.py': "WSGI_APPLICATION = 'config.wsgi.application'\nSTATIC_ROOT = BASE_DIR / 'static'\n",
    'config/wsgi.py': '',
    'app/wsgi.py': '',
  };
  const uvicorn = 'uvicorn --host 0.0.0.0 --port $PORT';
  const gunicorn = 'gunicorn --bind 0.0.0.0:$PORT';

  it.each<[string, Record<string, string>, string | undefined, string[]]>([
    ['Django', { ...DJANGO, 'requirements.txt': 'Django\ngunicorn' }, `${gunicorn} config.wsgi`, []],
    ['Django', { ...DJANGO, 'requirements.txt': 'Django' }, `${gunicorn} config.wsgi`, ['gunicorn']],
    [
      'Django',
      { 'requirements.txt': 'django\ndaphne', 'manage.py': '', 'a/settings.py': '', 'a/wsgi.py': '', 'a/asgi.py': '' },
      'daphne -b 0.0.0.0 -p $PORT a.asgi:application',
      [],
    ],
    [
      'Django',
      { 'requirements.txt': 'django', 'manage.py': '', 'a/settings.py': '', 'a/asgi.py': '' },
      `${uvicorn} a.asgi:application`,
      ['uvicorn'],
    ],
    [
      'Django',
      { 'requirements.txt': 'django', 'web/manage.py': '', 'web/a/settings.py': '', 'web/a/wsgi.py': '' },
      `${gunicorn} --chdir web a.wsgi`,
      ['gunicorn'],
    ],
    ['FastAPI', { 'requirements.txt': 'fastapi', 'main.py': 'app = FastAPI(x)' }, `${uvicorn} main:app`, ['uvicorn']],
    ['FastAPI', { 'requirements.txt': 'fastapi[standard]', 'main.py': 'api = FastAPI()' }, `${uvicorn} main:api`, []],
    [
      'FastAPI',
      {
        'pyproject.toml': project('fastapi', 'uvicorn[standard]'),
        'src/shop/main.py': 'app: FastAPI = fastapi.FastAPI()',
      },
      `${uvicorn} shop.main:app`,
      [],
    ],
    [
      'FastAPI',
      { Pipfile: '[packages]\nfastapi = "*"\nuvicorn = {extras = ["standard"]}', 'app/main.py': 'app = FastAPI()' },
      `${uvicorn} app.main:app`,
      [],
    ],
    [
      'Starlette',
      { 'requirements.txt': 'starlette\nhypercorn', 'app.py': 'app = Starlette(routes=[])' },
      'hypercorn --bind 0.0.0.0:$PORT app:app',
      [],
    ],
    ['FastAPI', { 'requirements.txt': 'fastapi', 'main.py': 'app = create()' }, `${uvicorn} main:app`, ['uvicorn']],
    [
      'FastAPI',
      { 'requirements.txt': 'fastapi', 'app/main.py': 'app = get_application()', 'x/app.py': 'y = FastAPI()' },
      `${uvicorn} app.main:app`,
      ['uvicorn'],
    ],
    [
      'Flask',
      { 'requirements.txt': 'flask', 'wsgi.py': 'app = create_app()', 'shop/__init__.py': 'def create_app():' },
      `${gunicorn} wsgi:app`,
      ['gunicorn'],
    ],
    ['Flask', { 'requirements.txt': 'flask', 'hello.py': 'app = Flask(__name__)' }, undefined, []],
    ['Flask', { 'requirements.txt': 'flask', 'shop/__init__.py': 'app = None' }, undefined, []],
    ['Flask', { 'requirements.txt': 'flask', 'app.py': 'app = Flask(__name__)' }, `${gunicorn} app:app`, ['gunicorn']],
    [
      'Flask',
      {
        'requirements.txt': '-r requirements/prod.txt',
        'requirements/prod.txt': '-r base.txt',
        'requirements/base.txt': 'flask',
        'shop/__init__.py': 'def create_app(x=1):',
      },
      `${gunicorn} 'shop:create_app()'`,
      ['gunicorn'],
    ],
    [
      'Flask',
      { 'requirements.txt': 'Flask\nwaitress', 'tests/app.py': 'x = Flask(1)', 'web/app.py': 'site = Flask(1)' },
      'waitress-serve --listen 0.0.0.0:$PORT web.app:site',
      [],
    ],
    [
      'Streamlit',
      { 'requirements.txt': 'streamlit', 'app.py': 'import streamlit as st' },
      'streamlit run app.py --server.address 0.0.0.0 --server.port $PORT --server.headless true',
      [],
    ],
    [
      'Streamlit',
      {
        'requirements.txt': 'streamlit',
        'Chat.py': 'import streamlit as st',
        'Chat_test.py': 'from streamlit import x',
      },
      'streamlit run Chat.py --server.address 0.0.0.0 --server.port $PORT --server.headless true',
      [],
    ],
    [
      'Streamlit',
      {
        'requirements.txt': 'fastapi\nuvicorn\nstreamlit',
        'main.py': 'app = FastAPI()',
        'dashboard.py': 'import streamlit as st',
      },
      'uvicorn --host 0.0.0.0 --port $PORT main:app',
      [],
    ],
    ['Python', { 'requirements.txt': '', 'app.py': 'from http.server import HTTPServer' }, 'python app.py', []],
    [
      'Python',
      {
        'requirements.txt': '',
        'main.py': 'from wsgiref.handlers import format_date_time',
        'server.py': 'serve(int(os.environ["PORT"]))',
      },
      'python server.py',
      [],
    ],
    ['Python', { 'requirements.txt': 'tornado', 'main.py': 'import tornado.web' }, 'python main.py', []],
    ['Python', { 'requirements.txt': '', 'main.py': 'serve(int(os.environ.get("PORT", 1)))' }, 'python main.py', []],
    ['Python', { 'requirements.txt': 'x', 'main.py': 'print(1)' }, undefined, []],
  ])('of %s with %j is %s, for which it adds %j', async (title, files, command, adds) => {
    const made = await plan(files, 'python');
    expect([made.title, web(made)]).toEqual([title, command]);
    const added = stepsOf(made).filter((name) => /^uv pip install [a-z]/.test(name));
    expect(added).toEqual(adds.map((name) => `uv pip install ${name}`));
    expect(
      made.notes.filter((note) => note.includes('names no server') || note.includes('name no server')),
    ).toHaveLength(adds.length);
    expect(made.problems.map(({ cause }) => cause)).toEqual(command === undefined ? ['no_process'] : []);
  });

  it('is installed when only the Procfile names it', async () => {
    const files = {
      'requirements.txt': 'flask',
      'app.py': '',
      Procfile: 'web: gunicorn -b :$PORT app:app\nworker: python x.py',
    };
    const made = await plan(files);
    expect(stepsOf(made)).toContain('uv pip install gunicorn');
    expect(made.notes).toContainEqual(expect.stringContaining('the process web is started with it'));
    const listed = await plan({ ...files, 'requirements.txt': 'flask\nGunicorn[gevent]>=20' });
    expect([stepsOf(listed).length, listed.notes.length]).toEqual([2, 1]);
  });

  it('cannot be an app of a framework that nothing installs', async () => {
    const { problems } = await plan({ 'app.py': 'import os\napp = Flask(__name__)' });
    expect(problems).toMatchObject([
      {
        message: 'app.py line 2 needs Flask, but the source has no list of packages to be installed.',
        hint: expect.stringContaining('requirements.txt') as string,
      },
    ]);
    expect((await plan({ 'app.py': 'app = Flask(__name__)', 'requirements.txt': 'flask' })).problems).toEqual([]);
  });

  it('cannot be Django that nothing installs, whoever starts it', async () => {
    const app = { 'manage.py': 'import os\nfrom django.core import management\n', 'shop/wsgi.py': '' };
    const all = 'requirements.txt at the top of the repository that names one package per line';
    const apart = 'requirements.txt at the top of the repository with the one line "-r requirements/production.txt"';
    const lists = { 'requirements/local.txt': 'django', 'requirements/production.txt': 'django' };
    for (const [files, hint] of [
      [app, all],
      [{ ...app, ...lists }, apart],
      [{ ...app, Procfile: 'web: gunicorn shop.wsgi\n' }, all],
    ] as const) {
      const [problem] = (await plan(files)).problems;
      expect(problem?.message).toMatch(/^manage.py line 2 needs Django, but the source has no list of packages/);
      expect(problem?.hint).toContain(hint);
    }
    const listed = { ...app, ...lists, 'requirements.txt': '-r requirements/production.txt' };
    for (const files of [listed, { ...app, 'tancho.yaml': 'hooks: { build: [make] }' }]) {
      expect((await plan(files)).problems).toEqual([]);
    }
  });

  it('reads a list that PowerShell has written, and has it written anew for uv', async () => {
    const list = Buffer.from('\uFEFFFlask==3.0.0\r\n', 'utf16le');
    for (const written of [list, Buffer.from(list).swap16()]) {
      const made = await plan({ 'requirements.txt': written, 'app.py': 'app = Flask(__name__)' });
      expect(made.problems).toEqual([]);
      expect(stepsOf(made)).toContain('requirements.txt from UTF-16 to UTF-8');
    }
    const included = await plan({
      ...{ 'requirements.txt': '-r lists/base.txt', 'lists/base.txt': list, 'app.py': 'app = Flask(__name__)' },
    });
    expect(stepsOf(included)).toContain('lists/base.txt from UTF-16 to UTF-8');
    expect(stepsOf(included)).not.toContain('requirements.txt from UTF-16 to UTF-8');
    const started = await plan({ Procfile: Buffer.from('\uFEFFweb: python app.py\r\n', 'utf16le'), 'app.py': '' });
    expect(web(started)).toBe('python app.py');
  });

  it('collects the static files of Django wherever its settings say so', async () => {
    const collected = 'python manage.py collectstatic (config/settings/base.py has a STATIC_ROOT)';
    expect(stepsOf(await plan({ ...DJANGO, 'requirements.txt': 'django' }))).toContain(collected);
    const own = { ...DJANGO, 'requirements.txt': 'django', Procfile: 'web: gunicorn config.wsgi' };
    expect(stepsOf(await plan(own))).toContain(collected);
    const none = await plan({
      'requirements.txt': 'django',
      'manage.py': '',
      'a/settings.py': 'DEBUG = 1',
      'a/wsgi.py': '',
    });
    expect(none.steps).toEqual([]);
    const below = {
      'requirements.txt': 'django',
      'web/manage.py': '',
      'web/a/settings.py': '  STATIC_ROOT: str = x',
      'web/a/wsgi.py': '',
    };
    const [step] = (await plan(below)).steps;
    expect(step?.run).toEqual(['{layer}/bin/python', '.tancho/collectstatic.py', 'web/manage.py']);
  });
});
