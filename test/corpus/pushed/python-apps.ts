/** Apps in Python, whose packages come from the index. */
import { json, type PushedApp, type PushedApps } from './pushed-app.ts';

const FLASK = 'from flask import Flask\napp = Flask(__name__)\n@app.get("/")\ndef home():\n    return "from Flask"\n';
const FASTAPI =
  'from fastapi import FastAPI\napp = FastAPI()\n@app.get("/")\ndef home():\n    return {"from": "FastAPI"}\n';
const DJANGO = {
  'manage.py':
    "import os, sys\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')\nfrom django.core.management import execute_from_command_line\nexecute_from_command_line(sys.argv)\n",
  'requirements.txt': 'Django>=4.2,<6\nwhitenoise\n',
  'shop/__init__.py': '',
  'shop/urls.py':
    "from django.http import HttpResponse\nfrom django.urls import path\nurlpatterns = [path('', lambda request: HttpResponse('from Django'))]\n",
  'shop/wsgi.py':
    "import os\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')\nfrom django.core.wsgi import get_wsgi_application\napplication = get_wsgi_application()\n",
  'assets/site.css': 'h1 {}',
};
const SETTINGS = [
  'from pathlib import Path',
  'BASE_DIR = Path(__file__).resolve().parents[1]',
  "SECRET_KEY = 'test'",
  "ALLOWED_HOSTS = ['*']",
  "INSTALLED_APPS = ['django.contrib.staticfiles']",
  "MIDDLEWARE = ['whitenoise.middleware.WhiteNoiseMiddleware']",
  "ROOT_URLCONF = 'shop.urls'",
  "WSGI_APPLICATION = 'shop.wsgi.application'",
  "STATIC_URL = '/static/'",
  "STATICFILES_DIRS = [BASE_DIR / 'assets']",
  '',
].join('\n');
/** Says which version of its only package it runs with. */
const VERSION = [
  'import os',
  'from http.server import BaseHTTPRequestHandler, HTTPServer',
  'from importlib.metadata import version',
  'class Home(BaseHTTPRequestHandler):',
  '    def do_GET(self):',
  '        self.send_response(200)',
  '        self.end_headers()',
  '        self.wfile.write(version("itsdangerous").encode())',
  'HTTPServer(("0.0.0.0", int(os.environ["PORT"])), Home).serve_forever()',
  '',
].join('\n');

/** All with one app: what is fetched is kept, and packages are of one push alone. */
const pushed = (app: Omit<PushedApp, 'needs' | 'app'>): PushedApp => ({ needs: ['pip'], app: 'python', ...app });

export const PYTHON_APPS: PushedApps = {
  'a Python program without packages': {
    needs: ['python'],
    files: {
      'main.py': VERSION.replace('from importlib.metadata import version\n', '').replace(
        'version("itsdangerous")',
        '"plain"',
      ),
    },
    pages: { '/': 'plain' },
  },
  'Flask, whose server nobody names': pushed({
    files: { 'requirements.txt': 'flask\n', 'app.py': FLASK },
    says: ['gunicorn serves the app'],
    pages: { '/': 'from Flask' },
  }),
  'Flask with a factory in a package': pushed({
    files: {
      'requirements.txt': 'flask\ngunicorn\n',
      'shop/__init__.py': `from flask import Flask\ndef create_app():\n    app = Flask(__name__)\n    app.get("/")(lambda: "from a factory")\n    return app\n`,
    },
    pages: { '/': 'from a factory' },
  }),
  'Flask with a Procfile': pushed({
    files: {
      'requirements.txt': 'flask\n',
      'wsgi.py': FLASK,
      Procfile: 'web: gunicorn --bind 0.0.0.0:$PORT wsgi:app\n',
    },
    says: ['gunicorn is installed, too'],
    pages: { '/': 'from Flask' },
  }),
  FastAPI: pushed({
    files: { 'requirements.txt': 'fastapi\nuvicorn\n', 'main.py': FASTAPI },
    pages: { '/': '{"from":"FastAPI"}', '/openapi.json': '"openapi"' },
  }),
  'FastAPI in src, of a project': pushed({
    files: {
      'pyproject.toml': '[project]\nname = "x"\nversion = "1"\ndependencies = ["fastapi"]\n',
      'src/shop/__init__.py': '',
      'src/shop/main.py': FASTAPI,
    },
    says: ['uvicorn serves the app'],
    pages: { '/': '{"from":"FastAPI"}' },
  }),
  Starlette: pushed({
    isExtra: true,
    files: {
      'requirements.txt': 'starlette\nuvicorn\n',
      'app.py':
        'from starlette.applications import Starlette\nfrom starlette.responses import PlainTextResponse\nfrom starlette.routing import Route\nasync def home(request):\n    return PlainTextResponse("from Starlette")\napp = Starlette(routes=[Route("/", home)])\n',
    },
    pages: { '/': 'from Starlette' },
  }),
  'Django whose static files are collected': pushed({
    files: { ...DJANGO, 'shop/settings.py': `${SETTINGS}STATIC_ROOT = BASE_DIR / 'collected'\n` },
    says: ['collectstatic'],
    pages: { '/': 'from Django', '/static/site.css': 'h1 {}' },
  }),
  'Django without a STATIC_ROOT': pushed({
    files: { ...DJANGO, 'shop/settings.py': SETTINGS },
    pages: { '/': 'from Django' },
  }),
  'Django that does not know its own name': pushed({
    isExtra: true,
    files: {
      ...DJANGO,
      'shop/settings.py': `${SETTINGS}ALLOWED_HOSTS = ['shop.example.com']\nMIDDLEWARE += ['django.middleware.common.CommonMiddleware']\n`,
    },
    says: ['The app answers 400 to its own address: Django takes only the names in ALLOWED_HOSTS', '.localhost'],
    pages: { '/': 'Bad Request (400)' },
  }),
  Streamlit: pushed({
    isExtra: true,
    files: {
      'requirements.txt': 'streamlit\n',
      'streamlit_app.py': 'import streamlit as st\nst.title("from Streamlit")\n',
    },
    pages: { '/': '<title>Streamlit</title>', '/_stcore/health': 'ok' },
  }),
  'FastHTML as its first page': pushed({
    isExtra: true,
    files: {
      'requirements.txt': 'python-fasthtml\n',
      'main.py':
        'from fasthtml.common import *\napp, rt = fast_app()\n@rt\ndef index():\n    return Titled("from FastHTML")\nserve()\n',
    },
    pages: { '/': 'from FastHTML' },
  }),
  'Dash whose server has no name of its own': pushed({
    files: {
      'requirements.txt': 'dash\n',
      'app.py':
        'from dash import Dash, html\napp = Dash()\napp.title = "from Dash"\napp.layout = [html.Div("hello")]\nif __name__ == "__main__":\n    app.run(debug=True)\n',
    },
    says: ['waitress serves the app'],
    pages: { '/': '<title>from Dash</title>' },
  }),
  'Gradio without a Procfile': pushed({
    isExtra: true,
    files: {
      'requirements.txt': 'gradio\n',
      'app.py':
        'import gradio as gr\ndemo = gr.Interface(fn=str, inputs="text", outputs="text", title="from Gradio")\ndemo.launch()\n',
    },
    pages: { '/': 'from Gradio' },
  }),
  'aiohttp, which has no server for many': pushed({
    files: {
      'requirements.txt': 'aiohttp\n',
      'main.py':
        'from aiohttp import web\nasync def home(request):\n    return web.Response(text="from aiohttp")\napp = web.Application()\napp.add_routes([web.get("/", home)])\nif __name__ == "__main__":\n    web.run_app(app)\n',
    },
    says: ['gunicorn serves the app'],
    pages: { '/': 'from aiohttp' },
  }),
  'Django with a release': pushed({
    isExtra: true,
    files: {
      ...DJANGO,
      'shop/settings.py': SETTINGS,
      Procfile: 'release: python manage.py check\nweb: gunicorn --bind 0.0.0.0:$PORT shop.wsgi\n',
    },
    says: ['System check identified no issues'],
    pages: { '/': 'from Django' },
  }),
  'a Pipfile with its lock': pushed({
    files: {
      Pipfile: '[packages]\nitsdangerous = "*"\n',
      'Pipfile.lock': json({ default: { itsdangerous: { version: '==2.1.2' } } }),
      'main.py': VERSION,
    },
    pages: { '/': '2.1.2' },
  }),
  'a poetry.lock': pushed({
    files: {
      'pyproject.toml': '[tool.poetry.dependencies]\npython = "^3.9"\nitsdangerous = "^2.0"\n',
      'poetry.lock': '[[package]]\nname = "itsdangerous"\nversion = "2.1.2"\n',
      'main.py': VERSION,
    },
    pages: { '/': '2.1.2' },
  }),
  'requirements that include others': pushed({
    isExtra: true,
    files: {
      'requirements.txt': '-r requirements/base.txt\n',
      'requirements/base.txt': 'itsdangerous==2.1.2\n',
      'main.py': VERSION,
    },
    pages: { '/': '2.1.2' },
  }),
};

export const PYTHON_TRAPS: PushedApps = {
  'a Python package that is nowhere': pushed({
    isExtra: true,
    files: { 'requirements.txt': 'itsdangerous==99.9\n', 'main.py': VERSION },
    fails: { cause: 'build_failed', message: /The step "uv pip install \(requirements.txt\)" failed/ },
  }),
  'Django whose static files are not there': pushed({
    files: {
      ...DJANGO,
      'shop/settings.py': `${SETTINGS}STATIC_ROOT = BASE_DIR / 'collected'\nraise RuntimeError('no SECRET')\n`,
    },
    fails: { cause: 'build_failed', message: /The step "python manage.py collectstatic .*" failed/ },
    says: ['no SECRET'],
  }),
  'a poetry.lock that is old': pushed({
    files: {
      'pyproject.toml': '[tool.poetry.dependencies]\npython = "^3.9"\nflask = "^3.0"\n',
      'poetry.lock': '[[package]]\nname = "itsdangerous"\nversion = "2.1.2"\n',
      'main.py': VERSION,
    },
    fails: {
      cause: 'invalid_config',
      message: /poetry.lock does not fit pyproject.toml: pyproject.toml line 3 asks for flask/,
    },
  }),
  'a Pipfile.lock that is old': pushed({
    files: { Pipfile: '[packages]\nflask = "*"\n', 'Pipfile.lock': json({ default: {} }), 'main.py': VERSION },
    fails: { cause: 'invalid_config', message: /Pipfile.lock does not fit Pipfile: Pipfile line 2 asks for flask/ },
  }),
  'a module that is nowhere': pushed({
    isExtra: true,
    files: {
      'requirements.txt': 'uvicorn\n',
      'main.py': '',
      Procfile: 'web: uvicorn --host 0.0.0.0 --port $PORT shop:app\n',
    },
    fails: { cause: 'exited', message: /The process "web" ended with code 3 before it was ready/ },
    says: ['Could not import module "shop"'],
  }),
};
