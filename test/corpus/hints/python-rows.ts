/** Next steps of apps in Python. */
import { json } from '../pushed/pushed-app.ts';
import type { HintRow } from './hint-row.ts';

const page = 'mended';
const FLASK = 'from flask import Flask\napp = Flask(__name__)\n@app.get("/")\ndef home():\n    return "mended"\n';
/** In one file. */
const django = (host: string): string =>
  [
    'from django.conf import settings',
    'from django.core.wsgi import get_wsgi_application',
    'from django.http import HttpResponse',
    'from django.urls import path',
    'COMMON = "django.middleware.common.CommonMiddleware"',
    `settings.configure(SECRET_KEY="x", ROOT_URLCONF=__name__, MIDDLEWARE=[COMMON], ALLOWED_HOSTS=["${host}"])`,
    'urlpatterns = [path("", lambda request: HttpResponse("mended"))]',
    'application = get_wsgi_application()',
    '',
  ].join('\n');
const PYTHON = 'build-plan/languages/python/';

export const PYTHON_ROWS: Readonly<Record<string, HintRow>> = {
  'a program of a usual name that says nothing of its port': {
    from: `${PYTHON}start.ts`,
    cause: 'no_process',
    says: 'main.py looks like it',
    needs: ['python'],
    files: {
      'main.py': [
        'import asyncio',
        'from os import environ as env',
        'async def page(reader, writer):',
        '    await reader.readuntil(b"\\r\\n\\r\\n")',
        '    writer.write(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\nmended")',
        '    await writer.drain()',
        '    writer.close()',
        'async def serve():',
        '    async with await asyncio.start_server(page, "0.0.0.0", int(env["PORT"])) as server:',
        '        await server.serve_forever()',
        'asyncio.run(serve())',
        '',
      ].join('\n'),
    },
    hint: 'Add a file named Procfile at the top of the repository, for example "web: python main.py", which is to listen on $PORT; what answers no requests is called worker. Then commit and push again.',
    follow: [{ exampleTo: 'Procfile' }],
    page,
  },
  'Flask without a list of packages': {
    from: `${PYTHON}not-listed.ts`,
    cause: 'invalid_config',
    needs: ['pip'],
    files: { 'app.py': FLASK },
    hint: 'Add a file requirements.txt at the top of the repository that names one package per line (pip freeze > requirements.txt), commit and push again.',
    follow: [{ edit: { 'requirements.txt': 'flask\n' } }],
    page,
  },
  'a Python package that is nowhere': {
    from: 'backends/builder/platform/steps/advice.ts',
    cause: 'build_failed',
    needs: ['pip'],
    files: { 'app.py': FLASK, 'requirements.txt': 'flask==99.9\n' },
    hint: 'Check the name and the version of the package that is named, and that it exists for this version of Python; then push again.',
    follow: [{ edit: { 'requirements.txt': 'flask\n' } }],
    page,
  },
  'Django that does not know its own name': {
    from: 'domain/pages/refused-hosts.ts',
    needs: ['pip'],
    files: { 'requirements.txt': 'Django>=4.2,<6\ngunicorn\n', 'shop.py': django('shop.example.com') },
    settings: ['--start-command', 'gunicorn --bind 0.0.0.0:$PORT shop'],
    hint: "Add 'APP.localhost' to ALLOWED_HOSTS in the settings of the app, commit and push again.",
    follow: [{ edit: { 'shop.py': django('APP.localhost') } }],
    page,
  },
  'a uv.lock that is old': {
    isExtra: true,
    from: `${PYTHON}lock-file.ts`,
    cause: 'invalid_config',
    needs: ['lock tools'],
    files: {
      'app.py': FLASK,
      'pyproject.toml':
        '[project]\nname = "shop"\nversion = "1"\nrequires-python = ">=3.9"\ndependencies = ["flask"]\n',
      'uv.lock': 'version = 1\nrequires-python = ">=3.9"\n',
    },
    hint: 'Run "uv lock" in the app, commit uv.lock and push again.',
    follow: [{ inApp: ['uv lock'] }],
    page,
  },
  'a poetry.lock that is old': {
    isExtra: true,
    from: `${PYTHON}lock-file.ts`,
    cause: 'invalid_config',
    needs: ['lock tools', 'pypi.org'],
    files: {
      'app.py': FLASK,
      'pyproject.toml':
        '[tool.poetry]\npackage-mode = false\n[tool.poetry.dependencies]\npython = "^3.9"\nflask = "^3.0"\n',
      'poetry.lock':
        'package = []\n\n[metadata]\nlock-version = "2.1"\npython-versions = "^3.9"\ncontent-hash = "of-an-older-one"\n',
    },
    hint: 'Run "poetry lock" in the app, commit poetry.lock and push again.',
    follow: [{ inApp: ['poetry lock'] }],
    page,
  },
  'a Pipfile.lock that is old': {
    isExtra: true,
    from: `${PYTHON}pipfile.ts`,
    cause: 'invalid_config',
    needs: ['lock tools'],
    files: { 'app.py': FLASK, Pipfile: '[packages]\nflask = "*"\n', 'Pipfile.lock': json({ default: {} }) },
    hint: 'Run "pipenv lock" in the app, commit Pipfile.lock and push again.',
    // Where it reaches no index it may write a lock file without packages.
    follow: [{ inApp: ['pipenv lock'], writes: { file: 'Pipfile.lock', text: '"flask"' } }],
    page,
  },
};
