/** Small apps with packages, and what a person types to install, build and start each by hand, with the same package manager. */
import { FRAMEWORKS } from '../test/corpus/pushed/framework-apps.ts';
import type { Need } from '../test/corpus/pushed/pushed-app.ts';
import { PYTHON_APPS } from '../test/corpus/pushed/python-apps.ts';
import type { Files } from './sample-apps.ts';

type Command = readonly string[];

export interface PackageApp {
  readonly name: string;
  readonly needs: readonly Need[];
  readonly files: Files;
  /** What is in its page. */
  readonly page: string;
  /** The file to which a line is added where only the source is to change, and the line. */
  readonly changed: { readonly file: string; readonly line: string };
  /** Run once where the app is written, with caches of their own: what makes its lock file. */
  readonly lock: readonly Command[];
  /** Of the platform's shared tools, once, whose time is nobody's: an app of the language without packages. */
  readonly before: Files | null;
  /** Words with {caches}, a directory that is empty at first, {uv} and {port}. */
  readonly byHand: readonly Command[];
  readonly start: Command;
  readonly env: Readonly<Record<string, string>>;
}

const NPM_ENV = { npm_config_cache: '{caches}/npm', NEXT_TELEMETRY_DISABLED: '1' };
const NPM_BUILD: readonly Command[] = [
  ['npm', 'ci', '--include=dev', '--prefer-offline', '--no-audit', '--no-fund'],
  ['npm', 'run', 'build'],
  ['npm', 'prune', '--omit=dev', '--no-audit', '--no-fund'],
];
const NPM_LOCK: readonly Command[] = [['npm', 'install', '--package-lock-only', '--no-audit', '--no-fund']];

function nodeApp(name: string, title: string, file: string, page: string, start: Command): PackageApp {
  return {
    name,
    needs: ['npm'],
    files: { ...FRAMEWORKS[title]?.files, '.gitignore': 'node_modules\n.next\ndist\n' },
    page,
    changed: { file, line: '// changed' },
    lock: NPM_LOCK,
    before: null,
    byHand: NPM_BUILD,
    start,
    env: NPM_ENV,
  };
}

const UV_INSTALL: readonly Command[] = [
  ['python3', '-m', 'venv', '--without-pip', '.venv'],
  ['{uv}', 'pip', 'install', '--python', '.venv/bin/python', '--compile-bytecode', '-r', 'requirements.txt'],
];
const PLAIN_PYTHON = PYTHON_APPS['a Python program without packages']?.files ?? {};

function pythonApp(name: string, files: Files, page: string, more: readonly Command[], start: Command): PackageApp {
  const file = 'main.py' in files ? 'main.py' : 'shop/urls.py';
  return {
    name,
    needs: ['pip'],
    files: { ...files, '.gitignore': '.venv\ncollected\n' },
    page,
    changed: { file, line: '# changed' },
    lock: [],
    before: { ...PLAIN_PYTHON, 'requirements.txt': 'itsdangerous\n' },
    byHand: [...UV_INSTALL, ...more],
    start,
    env: { UV_CACHE_DIR: '{caches}/uv' },
  };
}

const DJANGO: Files = {
  ...PYTHON_APPS['Django whose static files are collected']?.files,
  'requirements.txt': 'Django>=4.2,<6\nwhitenoise\ngunicorn\n',
};

const GO_MAIN = `package main

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

func main() {
	gin.SetMode(gin.ReleaseMode)
	app := gin.New()
	app.GET("/", func(c *gin.Context) { c.String(http.StatusOK, "from Go") })
	panic(app.Run())
}
`;
const RUST_MAIN = `use axum::{routing::get, Router};

#[tokio::main]
async fn main() {
    let port = std::env::var("PORT").unwrap();
    let listener = tokio::net::TcpListener::bind(format!("0.0.0.0:{port}")).await.unwrap();
    let app = Router::new().route("/", get(|| async { "from Rust" }));
    axum::serve(listener, app).await.unwrap();
}
`;
const SPRING_POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-parent</artifactId><version>3.5.0</version></parent>
  <groupId>demo</groupId><artifactId>shop</artifactId><version>1</version>
  <properties><java.version>17</java.version></properties>
  <dependencies>
    <dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-web</artifactId></dependency>
  </dependencies>
  <build><plugins>
    <plugin><groupId>org.springframework.boot</groupId><artifactId>spring-boot-maven-plugin</artifactId></plugin>
  </plugins></build>
</project>
`;
const SPRING_MAIN = `package demo;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
@RestController
public class Shop {
  public static void main(String[] args) {
    SpringApplication.run(Shop.class, args);
  }

  @GetMapping("/")
  String home() {
    return "from Spring";
  }
}
`;

const COMPILED: readonly PackageApp[] = [
  {
    name: 'Go',
    needs: ['go'],
    files: {
      'go.mod': 'module example.com/shop\n\ngo 1.21\n\nrequire github.com/gin-gonic/gin v1.10.0\n',
      'main.go': GO_MAIN,
      '.gitignore': 'bin\n',
    },
    page: 'from Go',
    changed: { file: 'main.go', line: '// changed' },
    lock: [['go', 'mod', 'tidy']],
    before: null,
    byHand: [['go', 'build', '-trimpath', '-buildvcs=false', '-o', 'bin/', '.']],
    start: ['bin/shop'],
    env: { GOPATH: '{caches}/go', GOCACHE: '{caches}/go-build', GOFLAGS: '-modcacherw' },
  },
  {
    name: 'Spring Boot',
    needs: ['maven'],
    files: { 'pom.xml': SPRING_POM, 'src/main/java/demo/Shop.java': SPRING_MAIN, '.gitignore': 'target\n' },
    page: 'from Spring',
    changed: { file: 'src/main/java/demo/Shop.java', line: '// changed' },
    lock: [],
    before: null,
    byHand: [['mvn', '-B', '-ntp', '-DskipTests', '-Dmaven.repo.local={caches}/m2', 'package']],
    start: ['java', '-jar', 'target/shop-1.jar', '--server.port={port}'],
    env: {},
  },
  {
    name: 'Rust',
    needs: ['cargo'],
    files: {
      'Cargo.toml':
        '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\naxum = "0.7"\ntokio = { version = "1", features = ["macros", "net", "rt-multi-thread"] }\n',
      'src/main.rs': RUST_MAIN,
      '.gitignore': 'target\n',
    },
    page: 'from Rust',
    changed: { file: 'src/main.rs', line: '// changed' },
    lock: [['cargo', 'generate-lockfile']],
    before: null,
    byHand: [['cargo', 'build', '--release', '--locked']],
    start: ['{caches}/target/release/shop'],
    env: { CARGO_HOME: '{caches}/cargo', CARGO_TARGET_DIR: '{caches}/target' },
  },
];

export const PACKAGE_APPS: readonly PackageApp[] = [
  nodeApp('Next', 'Next.js with a server', 'pages/index.js', 'from Next', [
    './node_modules/.bin/next',
    'start',
    '-p',
    '{port}',
  ]),
  nodeApp('Nest', 'Nest as its program makes it', 'src/main.ts', 'from Nest', ['node', 'dist/main']),
  pythonApp(
    'Django',
    DJANGO,
    'from Django',
    [['.venv/bin/python', 'manage.py', 'collectstatic', '--noinput', '--verbosity', '1']],
    ['.venv/bin/gunicorn', '--bind', '0.0.0.0:{port}', 'shop.wsgi'],
  ),
  pythonApp(
    'FastAPI',
    PYTHON_APPS['FastAPI']?.files ?? {},
    'from',
    [],
    ['.venv/bin/uvicorn', '--port', '{port}', 'main:app'],
  ),
  ...COMPILED,
];
