/** Next steps of apps in Go, Rust and Java. */
import { javaShop, mavenProject } from '../../support/maven-app.ts';
import type { HintRow } from './hint-row.ts';

const page = 'mended';
const GO = 'build-plan/languages/go/';
const COMPILED = 'build-plan/languages/compiled-programs.ts';
const MODULE = 'module example.com/shop\n\ngo 1.21\n';
const GO_SERVER = `package main

import (
	"fmt"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "mended") })
	panic(http.ListenAndServe(":"+os.Getenv("PORT"), nil))
}
`;
const RUST_SERVER = `use std::io::{Read, Write};

fn main() {
    let port = std::env::var("PORT").unwrap();
    let listener = std::net::TcpListener::bind(format!("0.0.0.0:{port}")).unwrap();
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let _ = write!(stream, "HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: 6\\r\\n\\r\\nmended");
    }
}
`;
const CRATE = '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n';

export const COMPILED_ROWS: Readonly<Record<string, HintRow>> = {
  'Go before modules': {
    isExtra: true,
    from: `${GO}before-modules.ts`,
    cause: 'invalid_config',
    needs: ['go'],
    files: { 'main.go': GO_SERVER },
    hint: 'Make it one in its directory: go mod init example.com/APP && go mod tidy. If its packages import each other by another path than that, give that path. Commit go.mod and go.sum and push again.',
    follow: [{ inApp: ['go mod init example.com/APP', 'go mod tidy'] }],
    page,
  },
  'a module without its checksums': {
    from: `${GO}sums.ts`,
    cause: 'invalid_config',
    needs: ['go'],
    files: {
      'go.mod': `${MODULE}\nrequire github.com/google/uuid v1.6.0\n`,
      'main.go': GO_SERVER.replace('"fmt"', '"fmt"\n\t_ "github.com/google/uuid"'),
    },
    hint: 'Run "go mod tidy" in the app, commit go.sum (it may be in .gitignore) and push again.',
    follow: [{ inApp: ['go mod tidy'] }],
    page,
  },
  'two programs of one name': {
    from: `${GO}choose-programs.ts`,
    cause: 'invalid_config',
    needs: ['go'],
    files: {
      'go.mod': MODULE,
      'cmd/web/main.go': GO_SERVER,
      'cmd/old/web/main.go': 'package main\n\nfunc main() {}\n',
    },
    hint: 'Rename one of the directories, or name what is to be built in go.mod with a line such as: // +heroku install ./cmd/web',
    follow: [{ edit: { 'go.mod': `// +heroku install ./cmd/web\n${MODULE}` } }],
    page,
  },
  'a library in Go': {
    from: `${GO}choose-programs.ts`,
    cause: 'no_process',
    needs: ['go'],
    files: { 'go.mod': MODULE, 'shop.go': 'package shop\n' },
    hint: 'Add a program at the top or in a directory of cmd/, such as cmd/web/main.go, and push again.',
    follow: [{ edit: { 'cmd/web/main.go': GO_SERVER } }],
    page,
  },
  'several programs in Go': {
    from: COMPILED,
    cause: 'no_process',
    needs: ['go'],
    files: { 'go.mod': MODULE, 'cmd/a/main.go': GO_SERVER, 'cmd/b/main.go': 'package main\n\nfunc main() {}\n' },
    hint: 'Add a file named Procfile at the top of the repository with one process per line, for example: web: bin/a',
    follow: [{ exampleTo: 'Procfile' }],
    page,
  },
  'a program that nothing makes': {
    from: COMPILED,
    cause: 'invalid_config',
    needs: ['go'],
    files: { 'go.mod': MODULE, 'main.go': GO_SERVER, Procfile: 'web: bin/server\n' },
    hint: 'Programs are named as "go install" names them: by their directory, at the top by the module. Correct the command of the process and push again.',
    follow: [{ edit: { Procfile: 'web: bin/shop\n' } }],
    page,
  },
  'a library in Rust': {
    from: 'build-plan/languages/rust/rust.ts',
    cause: 'no_process',
    needs: ['cargo'],
    files: { 'Cargo.toml': CRATE, 'src/lib.rs': '' },
    hint: 'Add src/main.rs and push again.',
    follow: [{ edit: { 'src/main.rs': RUST_SERVER } }],
    page,
  },
  'a Rust that is not there': {
    from: 'backends/builder/platform/resolve-tools.ts',
    cause: 'toolchain_missing',
    needs: ['cargo'],
    files: { 'Cargo.toml': `${CRATE}rust-version = "99.0"\n`, 'src/main.rs': RUST_SERVER },
    hint: ' Change Cargo.toml to one of these, or ask the operator to install the other; then push again.',
    follow: [{ edit: { 'Cargo.toml': `${CRATE}rust-version = "1.60"\n` } }],
    page,
  },
  'Rust that is not installed': {
    isExtra: true,
    from: 'backends/builder/platform/resolve-tools.ts',
    cause: 'toolchain_missing',
    needs: ['cargo'],
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', CARGO_HOME: '/nonexistent' },
    files: { 'Cargo.toml': CRATE, 'src/main.rs': RUST_SERVER },
    hint: 'Ask the operator to install it, then push again.',
    follow: [{ operator: { PATH: 'WHERE_RUST_IS' } }],
    page,
  },
  'Go in a version that is nowhere': {
    from: 'backends/builder/platform/steps/advice.ts',
    cause: 'build_failed',
    needs: ['go'],
    files: { 'go.mod': MODULE.replace('1.21', '1.999.9'), 'main.go': GO_SERVER },
    hint: 'The version of Go that go.mod asks for could not be fetched. Check that there is such a version, correct the lines "go" and "toolchain", and push again.',
    follow: [{ edit: { 'go.mod': MODULE } }],
    page,
  },
  'Go that embeds what a front end is built to': {
    from: 'backends/builder/platform/steps/advice.ts',
    cause: 'build_failed',
    needs: ['go'],
    files: {
      'go.mod': MODULE,
      'main.go': GO_SERVER,
      'files.go': 'package main\n\nimport "embed"\n\n//go:embed ui/dist/*\nvar _ embed.FS\n',
    },
    hint: 'files.go takes ui/dist/* into the program, and the source has nothing there, which mostly is what a front end is built to. Build it, add what it makes (git add -f), commit and push again; or build by a Dockerfile, where there is one.',
    follow: [{ edit: { 'ui/dist/page': 'mended' } }],
    page,
  },
  'a war': {
    from: 'build-plan/languages/java/maven.ts',
    cause: 'no_process',
    needs: ['maven'],
    files: { 'pom.xml': mavenProject(null, 'war'), ...javaShop(page) },
    hint: 'Bring a server with the app (for example com.heroku:webapp-runner, copied to target/dependency) and start it in a Procfile: web: java -jar target/dependency/webapp-runner.jar --port $PORT target/*.war   or make an executable jar of it.',
    follow: [{ edit: { 'pom.xml': mavenProject('demo.Shop') } }],
    page,
  },
  'a program of Gradle without a name': {
    from: 'build-plan/languages/java/gradle.ts',
    cause: 'no_process',
    needs: ['gradle'],
    files: {
      'build.gradle': "plugins {\n  id 'application'\n}\napplication { mainClass = 'demo.Shop' }\n",
      ...javaShop(page),
    },
    hint: 'Add a file settings.gradle with the line: rootProject.name = "shop"   then push again.',
    follow: [{ edit: { 'settings.gradle': 'rootProject.name = "shop"\n' } }],
    page,
  },
};
