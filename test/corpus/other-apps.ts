/** Apps in other languages, and files of other platforms. */
import { type CorpusApp, json } from './corpus-app.ts';

const VITE = { 'package.json': json({ devDependencies: { vite: '7' }, scripts: { build: 'vite build' } }) };
const DJANGO = {
  'manage.py': 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")\n',
  'shop/settings.py': 'WSGI_APPLICATION = "shop.wsgi.application"\n',
  'shop/wsgi.py': 'application = get_wsgi_application()\n',
};

export const OTHER_APPS: Readonly<Record<string, CorpusApp>> = {
  Flask: {
    files: { 'requirements.txt': 'flask\n', 'app.py': 'app = Flask(__name__)\n' },
    web: 'gunicorn --bind 0.0.0.0:$PORT app:app',
    says: 'gunicorn serves the app',
  },
  'Flask with a factory': {
    files: { 'requirements.txt': 'flask\ngunicorn\n', 'shop/__init__.py': 'def create_app():\n' },
    web: "gunicorn --bind 0.0.0.0:$PORT 'shop:create_app()'",
  },
  FastAPI: {
    files: { 'requirements.txt': 'fastapi[standard]\n', 'main.py': 'app = FastAPI()\n' },
    web: 'uvicorn --host 0.0.0.0 --port $PORT main:app',
  },
  'FastAPI in src, of a project': {
    files: {
      'pyproject.toml': '[project]\nname = "x"\nversion = "1"\ndependencies = ["fastapi", "uvicorn"]\n',
      'src/shop/main.py': 'app = FastAPI()\n',
    },
    web: 'uvicorn --host 0.0.0.0 --port $PORT shop.main:app',
  },
  Django: {
    files: { ...DJANGO, 'requirements.txt': 'Django\ngunicorn\n' },
    web: 'gunicorn --bind 0.0.0.0:$PORT shop.wsgi',
  },
  'Django whose static files are collected': {
    files: {
      ...DJANGO,
      'requirements.txt': 'Django\n',
      'shop/settings.py': 'STATIC_ROOT = "x"\nWSGI_APPLICATION = "shop.wsgi.application"\n',
    },
    lastStep: /collectstatic/,
  },
  Streamlit: {
    files: { 'requirements.txt': 'streamlit\n', 'streamlit_app.py': 'import streamlit as st\n' },
    web: 'streamlit run streamlit_app.py --server.address 0.0.0.0 --server.port $PORT --server.headless true',
  },
  'Flask without a list of packages': {
    files: { 'app.py': 'app = Flask(__name__)\n' },
    problem: /app.py line 1 needs Flask, but the source has no list of packages/,
  },
  'a bot': {
    files: { 'requirements.txt': 'x\n', Procfile: 'worker: python bot.py\n' },
    process: ['worker', 'python bot.py'],
  },
  Pipenv: {
    files: { Pipfile: '[packages]\nflask = "*"\n', 'app.py': 'app = Flask(__name__)\n' },
    web: 'gunicorn --bind 0.0.0.0:$PORT app:app',
  },
  Deno: {
    files: {
      'deno.json': '{\n  // tasks\n  "tasks": { "start": "deno run -A app.ts", "build": "x", },\n}',
      'deno.lock': '{}',
    },
    web: 'deno task start',
    steps: ['deno install --frozen', 'mkdir -p .deno', 'deno task build'],
  },
  'a program that Deno serves': {
    files: { 'deno.json': '{}', 'main.ts': 'export default { fetch }' },
    web: 'deno serve -A --host 0.0.0.0 --port $PORT main.ts',
  },
  'a Go program at the top': {
    files: { 'go.mod': 'module example.com/till\n\ngo 1.21\n', 'main.go': 'package main\nfunc main() {}\n' },
    web: 'bin/till',
  },
  'a single program in cmd': {
    files: { 'go.mod': 'module x\n\ngo 1.21\n', 'cmd/shop/main.go': 'package main\nfunc main() {}\n' },
    web: 'bin/shop',
  },
  'Go from before modules': {
    files: { 'main.go': 'package main\nfunc main() {}\n', 'Godeps/Godeps.json': '{}' },
    problem: /modules/,
  },
  'a Go library': { files: { 'go.mod': 'module x\n', 'lib.go': 'package lib\n' }, isRefused: true },
  'a Rust program': {
    files: { 'Cargo.toml': '[package]\nname = "till"\nversion = "1.0.0"\n', 'src/main.rs': '', 'Cargo.lock': '' },
    web: 'target/release/till',
  },
  Rocket: {
    files: {
      'Cargo.toml': '[package]\nname = "till"\nversion = "1.0.0"\n[dependencies]\nrocket = "0.5"\n',
      'src/main.rs': '',
    },
    web: 'ROCKET_ADDRESS=0.0.0.0 ROCKET_PORT=$PORT exec target/release/till',
  },
  'a Rust library': {
    files: { 'Cargo.toml': '[package]\nname = "till"\nversion = "1.0.0"\n', 'src/lib.rs': '' },
    problem: /it is a library/,
  },
  'Spring Boot with Maven': {
    files: { 'pom.xml': '<parent>\n<artifactId>spring-boot-starter-parent</artifactId>\n' },
    web: 'SERVER_PORT=$PORT exec java @.tancho/app.args',
  },
  'Quarkus with Maven': {
    files: { 'pom.xml': '<groupId>io.quarkus</groupId>\n' },
    web: 'QUARKUS_HTTP_PORT=$PORT exec java @.tancho/app.args',
  },
  'Spring Boot with Gradle in Kotlin': {
    files: {
      gradlew: '',
      'gradle/wrapper/gradle-wrapper.properties': '',
      'build.gradle.kts': 'id("org.springframework.boot")\n',
    },
    title: 'Spring Boot with Gradle',
  },
  'a war': { files: { 'pom.xml': '<packaging>war</packaging>\n' }, problem: /pom.xml line 1 makes a war/ },
  Laravel: {
    files: { 'composer.json': json({ require: { 'laravel/framework': '^12' } }), 'public/index.php': '', artisan: '' },
    web: '.tancho/php-server public',
    title: 'Laravel with Composer',
  },
  Symfony: {
    files: {
      'composer.json': json({ require: { 'symfony/framework-bundle': '^7', 'ext-ctype': '*' } }),
      'public/index.php': '',
    },
    web: '.tancho/php-server public',
  },
  'plain PHP': { files: { 'index.php': '' }, web: '.tancho/php-server .' },
  "PHP as Heroku's sample": {
    files: { 'composer.json': '{}', 'web/index.php': '', Procfile: 'web: heroku-php-apache2 web/\n' },
    web: 'heroku-php-apache2 web/',
  },
  Rails: {
    files: { Gemfile: 'gem "rails"\ngem "puma"\n', 'config.ru': '', 'config/puma.rb': '', 'package.json': '{}' },
    web: 'bundle exec puma -C config/puma.rb',
    title: 'Rails with Bundler',
  },
  'Sinatra with Rack': {
    files: { Gemfile: 'gem "sinatra"\ngem "puma"\n', 'config.ru': '' },
    web: 'bundle exec puma -b tcp://0.0.0.0:$PORT config.ru',
  },
  'classic Sinatra': {
    files: { Gemfile: 'gem "sinatra"\n', 'app.rb': 'require "sinatra"\n' },
    web: 'bundle exec ruby app.rb -o 0.0.0.0 -p $PORT',
  },
  'pages as they are': { files: { 'index.html': '<h1>x</h1>' }, title: 'static files' },
  'pages that need a build': {
    files: { 'index.html': '<script type="module" src="/src/main.tsx"></script>' },
    problem: /index.html line 1 needs a build/,
  },
  'a file of nothing known': { files: { 'notes.txt': '' }, throws: /is not recognised/ },
  'no code': { files: { 'README.md': '' }, throws: /has no code yet/ },
  'an app in a directory': {
    files: { 'README.md': '', 'shop/package.json': '{}' },
    throws: /There is shop\/package.json, but the app must lie at the top/,
  },
  'release in the Procfile': {
    files: { 'server.js': '', Procfile: 'release: node migrate\nweb: node server.js\n' },
    web: 'node server.js',
  },
  'variables in app.json': {
    files: { 'server.js': '', 'app.json': json({ env: { KEY: { generator: 'secret' } } }) },
    variables: ['KEY'],
  },
  "Heroku's buildpack for sites": {
    files: { ...VITE, 'static.json': json({ root: 'dist/', routes: { '/**': 'index.html' } }) },
    options: { STATIC_ROOT: 'dist', STATIC_FALLBACK: 'index.html' },
  },
  'a Staticfile': {
    files: { Staticfile: 'root: pages\npushstate: enabled\n', 'pages/index.html': '<p>hi' },
    options: { STATIC_ROOT: 'pages', STATIC_FALLBACK: 'index.html' },
  },
  "Railpack's file": {
    files: {
      'package.json': '{}',
      'a.js': '',
      'railpack.json': `{
        "$schema": "https://schema.railpack.com", // with comments
        "deploy": { "startCommand": "node a.js" }, /* of both kinds */
        "steps": { "build": { "commands": ["make"] } },
      }`,
    },
    web: 'node a.js',
    says: 'railpack.json: steps',
  },
  "Railway's file": {
    files: {
      'package.json': '{}',
      'a.js': '',
      'railway.json': json({
        deploy: { startCommand: 'node a.js', healthcheckPath: '/up', preDeployCommand: ['migrate'] },
      }),
    },
    web: 'node a.js',
    healthPath: '/up',
    release: ['migrate'],
  },
  "Render's blueprint": {
    files: {
      'requirements.txt': 'x',
      'render.yaml': 'services:\n  - type: web\n    buildCommand: make\n    startCommand: gunicorn shop:app\n',
    },
    web: 'gunicorn shop:app',
    says: 'render.yaml: its build command is not followed',
  },
  'a blueprint of several services': {
    files: {
      'server.js': '',
      'render.yaml': 'services:\n  - { type: web, startCommand: a }\n  - { type: web, startCommand: b }\n',
    },
    web: 'node server.js',
    says: 'its several services',
  },
  "Nixpacks' file": {
    files: {
      'package.json': '{}',
      'b.js': '',
      'nixpacks.toml': '[phases.build]\ncmds = ["x"]\n[start]\ncmd = "node b"\n',
    },
    web: 'node b',
    says: 'the phase build',
  },
  "Fly's file": {
    files: { 'server.js': '', 'fly.toml': '[deploy]\nrelease_command = "node migrate"\n' },
    web: 'node server.js',
    release: ['node migrate'],
  },
  'a Procfile for development': {
    files: { 'server.js': '', 'Procfile.dev': 'web: nodemon\n' },
    web: 'node server.js',
    says: 'Procfile.dev is for development',
  },
  'a Procfile beside files of others': {
    files: {
      'server.js': '',
      'c.js': '',
      Procfile: 'web: node c\n',
      'railway.toml': '[deploy]\nstartCommand = "no"\n',
    },
    web: 'node c',
  },
  'pages with a package.json for tools': {
    files: {
      'index.html': '<h1>Till</h1>',
      'package.json': json({ scripts: { format: 'prettier -w .' }, devDependencies: { prettier: '3' } }),
    },
    title: 'static files',
    steps: [],
    says: 'It is not taken for nodejs: ',
  },
  'pages whose style is built': {
    files: {
      'index.html': '<link rel="stylesheet" href="dist/style.css">',
      'package.json': json({
        scripts: { build: 'tailwindcss -o dist/style.css' },
        devDependencies: { tailwindcss: '3' },
      }),
    },
    roots: ['dist', 'build', '_site', '.'],
    steps: ['npm install --include=dev --no-package-lock', 'npm run build'],
  },
  'a page beside packages that may be of a server': {
    files: { 'index.html': '', 'package.json': json({ dependencies: { express: '5' } }), 'src/shop.js': '' },
    problem: /says nowhere how it is started/,
  },
  'PHP with a package.json': {
    files: { 'index.php': '', 'package.json': json({ scripts: { build: 'x' }, devDependencies: { sass: '1' } }) },
    web: '.tancho/php-server .',
    says: 'It is not taken for nodejs: ',
  },
  'Python without a list, and a package.json': {
    files: {
      'app.py': 'from http.server import HTTPServer\n',
      'package.json': json({ devDependencies: { prettier: '3' } }),
    },
    web: 'python app.py',
  },
  'MkDocs with a package.json': {
    files: { 'mkdocs.yml': 'site_name: Till\n', 'package.json': json({ devDependencies: { prettier: '3' } }) },
    title: 'MkDocs',
  },
};
