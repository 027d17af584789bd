/** Small Python apps, each of another shape, are really built, and answer with their true page. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { builderWorld, type BuilderWorld } from '../support/builder-world.ts';
import { startProcess } from '../support/running-process.ts';
import { treeOf } from '../support/source-trees.ts';

const slowToo = process.env['TANCHO_TEST_SLOW'] === '1';
const hasIndex = await promisify(execFile)('python3', [
  ...['-m', 'pip', 'index', 'versions', 'click', '--retries', '0', '--timeout', '5'],
]).then(
  () => true,
  () => false,
);
const NO_INDEX = 'there is no Python, or its package index cannot be reached';
const SLOW = 'it takes some seconds of a processor; set TANCHO_TEST_SLOW=1 to run it';

interface App {
  readonly files: Record<string, string>;
  /** Path -> what is in the page. */
  readonly pages: Record<string, string>;
  /** What the build says. */
  readonly says: string;
  readonly fast?: boolean;
}

const FASTAPI =
  'from fastapi import FastAPI\napp = FastAPI()\n@app.get("/")\ndef home():\n    return {"from": "FastAPI"}\n';
const FLASK = 'from flask import Flask\n';
const HOME = '@app.get("/")\ndef home():\n    return "from Flask"\n';

const APPS: Record<string, App> = {
  'Flask of a Pipfile, whose server nobody names': {
    fast: true,
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

it.for(Object.entries(APPS))('%s', async ([name, { files, pages, says, fast = false }], test) => {
  if (!hasIndex) return test.skip(NO_INDEX);
  if (!fast && !slowToo) return test.skip(SLOW);
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
