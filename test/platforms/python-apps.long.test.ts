/** Small Python apps, each of another shape, are really built, and answer with their true page. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { builderWorld, type BuilderWorld, PLATFORM_FILES } from '../support/builder-world.ts';
import { startProcess } from '../support/running-process.ts';
import { treeOf } from '../support/source-trees.ts';

const hasIndex = await works('-m', 'pip', 'index', 'versions', 'click', '--retries', '0', '--timeout', '5');
const hasPython = hasIndex || (await works('--version'));
const NO_INDEX = 'there is no Python, or its package index cannot be reached';

function works(...args: string[]): Promise<boolean> {
  return promisify(execFile)('python3', args).then(
    () => true,
    () => false,
  );
}

interface App {
  readonly files: Record<string, string>;
  /** Path -> what is in the page. */
  readonly pages: Record<string, string>;
  /** What the build says. */
  readonly says: string;
}

const FASTAPI =
  'from fastapi import FastAPI\napp = FastAPI()\n@app.get("/")\ndef home():\n    return {"from": "FastAPI"}\n';
const FLASK = 'from flask import Flask\n';
const HOME = '@app.get("/")\ndef home():\n    return "from Flask"\n';

/** Says which version of its only package it runs with. */
const PLAIN = [
  'import os',
  'from http.server import BaseHTTPRequestHandler, HTTPServer',
  'from importlib.metadata import version',
  'class Home(BaseHTTPRequestHandler):',
  '    def do_GET(self):',
  '        self.send_response(200)',
  '        self.end_headers()',
  '        self.wfile.write(f"itsdangerous {version(\'itsdangerous\')}".encode())',
  'HTTPServer(("0.0.0.0", int(os.environ["PORT"])), Home).serve_forever()',
  '',
].join('\n');
const WHEEL =
  'https://files.pythonhosted.org/packages/68/5f/447e04e828f47465eeab35b5d408b7ebaaaee207f48b7136c5a7267a30ae/itsdangerous-2.1.2-py3-none-any.whl';
const UV_LOCK = [
  ...['version = 1', 'revision = 1', 'requires-python = ">=3.9"', ''],
  ...['[[package]]', 'name = "itsdangerous"', 'version = "2.1.2"', 'source = { registry = "https://pypi.org/simple" }'],
  `wheels = [{ url = "${WHEEL}", hash = "sha256:2c2349112351b88699d8d4b6b075022c0808887cb7ad10069318a8b0bc88db44", size = 15749 }]`,
  ...['', '[[package]]', 'name = "shop"', 'version = "1"', 'source = { virtual = "." }'],
  ...[
    'dependencies = [{ name = "itsdangerous" }]',
    '',
    '[package.metadata]',
    'requires-dist = [{ name = "itsdangerous" }]',
    '',
  ],
].join('\n');

const APPS: Record<string, App> = {
  'Flask of a Pipfile, whose server nobody names': {
    files: {
      Pipfile: '[packages]\nflask = "*"\n',
      'Pipfile.lock': JSON.stringify({
        default: {
          flask: { version: '==3.1.2' },
          werkzeug: { version: '==3.1.3', markers: "python_version >= '3.9'" },
        },
      }),
      'shop/__init__.py': `${FLASK}def create_app():\n    app = Flask(__name__)\n${HOME.replace(/^(?=.)/gm, '    ')}    return app\n`,
    },
    pages: { '/': 'from Flask' },
    says: 'gunicorn serves the app',
  },
  'a program with a uv.lock': {
    files: {
      'pyproject.toml':
        '[project]\nname = "shop"\nversion = "1"\nrequires-python = ">=3.9"\ndependencies = ["itsdangerous"]\n',
      'uv.lock': UV_LOCK,
      'main.py': PLAIN,
    },
    pages: { '/': 'itsdangerous 2.1.2' },
    says: 'uv pip install (uv.lock)',
  },
  'a program with a poetry.lock': {
    files: {
      'pyproject.toml': '[tool.poetry.dependencies]\npython = "^3.9"\nitsdangerous = "^2.0"\n',
      'poetry.lock': '[[package]]\nname = "itsdangerous"\nversion = "2.1.2"\n',
      'main.py': PLAIN,
    },
    pages: { '/': 'itsdangerous 2.1.2' },
    says: 'uv pip install (poetry.lock)',
  },
  'FastAPI of a project with its code in src': {
    files: {
      'pyproject.toml': '[project]\nname = "x"\nversion = "1"\ndependencies = ["fastapi"]\n',
      'src/shop/__init__.py': '',
      'src/shop/main.py': FASTAPI,
    },
    pages: { '/': '{"from":"FastAPI"}', '/openapi.json': '"openapi"' },
    says: 'uvicorn serves the app',
  },
  'Django with settings in parts and static files': {
    files: {
      'requirements.txt': 'Django>=4.2,<6\nwhitenoise\n',
      'web/manage.py':
        "import os, sys\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'config.settings.production')\nfrom django.core.management import execute_from_command_line\nexecute_from_command_line(sys.argv)\n",
      'web/config/__init__.py': '',
      'web/config/settings/__init__.py': '',
      'web/config/settings/production.py': 'from .base import *\nDEBUG = False\n',
      'web/config/settings/base.py': [
        'from pathlib import Path',
        'BASE_DIR = Path(__file__).resolve().parents[2]',
        "SECRET_KEY = 'test'",
        "ALLOWED_HOSTS = ['*']",
        "INSTALLED_APPS = ['django.contrib.staticfiles']",
        "MIDDLEWARE = ['whitenoise.middleware.WhiteNoiseMiddleware']",
        "ROOT_URLCONF = 'config.urls'",
        "WSGI_APPLICATION = 'config.wsgi.application'",
        "STATIC_URL = '/static/'",
        "STATICFILES_DIRS = [BASE_DIR / 'assets']",
        "STATIC_ROOT = BASE_DIR / 'collected'",
        '',
      ].join('\n'),
      'web/config/urls.py':
        "from django.http import HttpResponse\nfrom django.urls import path\nurlpatterns = [path('', lambda request: HttpResponse('from Django'))]\n",
      'web/config/wsgi.py':
        "import os\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'config.settings.production')\nfrom django.core.wsgi import get_wsgi_application\napplication = get_wsgi_application()\n",
      'web/assets/site.css': 'h1 { color: red }',
    },
    pages: { '/': 'from Django', '/static/site.css': 'h1 { color: red }' },
    says: '1 static file copied',
  },
};

let world: BuilderWorld;
beforeAll(async () => {
  world = await builderWorld();
});
afterAll(() => world.dispose());

it.for(Object.entries(APPS))('%s', async ([name, { files, pages, says }], test) => {
  if (!hasIndex) return test.skip(NO_INDEX);
  const artifact = await world.build({ app: 'shop', platform: 'auto', source: treeOf(files) });
  expect(world.lines.join('\n')).toContain(says);
  const running = await startProcess({
    command: artifact.processes['web'] ?? '',
    cwd: world.code(artifact),
    manifest: await world.manifest(artifact),
  });
  try {
    for (const [path, text] of Object.entries(pages)) {
      const page = (): Promise<string> =>
        fetch(running.url + path).then(
          (response) => response.text(),
          () => running.output(),
        );
      await expect.poll(page, { message: `${name}: ${path}` }).toContain(text);
    }
  } finally {
    await running.stop();
  }
});

it('uv is given the settings of pip, but not where it has its own', async (test) => {
  if (!hasPython) return test.skip('there is no Python');
  const env = {
    PIP_INDEX_URL: 'https://index.test/simple',
    PIP_EXTRA_INDEX_URL: 'https://a.test  https://b.test',
    PIP_FIND_LINKS: '/wheels https://c.test',
    PIP_CERT: '/ca.pem',
    UV_HTTP_TIMEOUT: '5',
    PIP_DEFAULT_TIMEOUT: '9',
  };
  const program = 'import json, sys, uv; print(json.dumps(uv.settings(json.loads(sys.argv[1]))))';
  const { stdout } = await promisify(execFile)('python3', ['-B', '-c', program, JSON.stringify(env)], {
    env: { ...process.env, PYTHONPATH: join(PLATFORM_FILES, 'python') },
  });
  expect(JSON.parse(stdout)).toEqual({
    UV_DEFAULT_INDEX: 'https://index.test/simple',
    UV_INDEX: 'https://a.test https://b.test',
    UV_FIND_LINKS: '/wheels,https://c.test',
    SSL_CERT_FILE: '/ca.pem',
  });
});
