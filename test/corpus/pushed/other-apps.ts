/** Apps in Go, Rust, Java, PHP and Ruby. */
import { readFileSync } from 'node:fs';
import { javaShop, mavenProject } from '../../support/maven-app.ts';
import { json, type PushedApp, type PushedApps } from './pushed-app.ts';

const goServer = (expression = '"from Go"'): string => `package main

import (
	"fmt"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, ${expression}) })
	panic(http.ListenAndServe(":"+os.Getenv("PORT"), nil))
}
`;
const SWEPT = `
func swept() string {
	said, err := exec.Command("sweep").Output()
	return fmt.Sprintf("swept: %s %v", said, err)
}
`;
const SWEEP = `package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	fmt.Print("all")
	if len(os.Args) > 1 {
		time.Sleep(24 * time.Hour)
	}
}
`;
const IDLE = 'package main\n\nimport "time"\n\nfunc main() { time.Sleep(24 * time.Hour) }\n';
const MODULE = 'module example.com/shop\n\ngo 1.21\n';
const inGo = (app: Omit<PushedApp, 'needs' | 'app'>): PushedApp => ({ needs: ['go'], app: 'go', ...app });

const EXAMPLE = new URL('../../../examples/go-hello/', import.meta.url);
const example = (...names: string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, readFileSync(new URL(name, EXAMPLE), 'utf8')]));

export const GO_APPS: PushedApps = {
  'the example go-hello': inGo({ files: example('go.mod', 'main.go'), pages: { '/': 'Hello from go' } }),
  'Go at the top': inGo({
    isExtra: true,
    files: { 'go.mod': MODULE, 'main.go': goServer() },
    pages: { '/': 'from Go' },
  }),
  'a single program in cmd': inGo({
    files: { 'go.mod': MODULE, 'cmd/till/main.go': goServer('"from cmd"') },
    pages: { '/': 'from cmd' },
  }),
  'several programs with a Procfile': inGo({
    files: {
      'go.mod': MODULE,
      'cmd/till/main.go': goServer('"from the till"'),
      'cmd/sweep/main.go': IDLE,
      Procfile: 'web: bin/till\nsweep: sweep\n',
    },
    pages: { '/': 'from the till' },
  }),
  'several programs, one of them web': inGo({
    files: { 'go.mod': MODULE, 'cmd/web/main.go': goServer('"from web"'), 'cmd/sweep/main.go': IDLE },
    pages: { '/': 'from web' },
  }),
  "what Heroku's comment names": inGo({
    files: {
      'go.mod': `// +heroku install ./serve\n${MODULE}`,
      'serve/main.go': goServer('"as the comment says"'),
      'other/main.go': IDLE,
    },
    pages: { '/': 'as the comment says' },
  }),
  'a vendored package': inGo({
    files: {
      'go.mod': `${MODULE}\nrequire example.com/greet v1.0.0\n`,
      'vendor/modules.txt': '# example.com/greet v1.0.0\n## explicit\nexample.com/greet\n',
      'vendor/example.com/greet/greet.go': 'package greet\n\nconst Word = "from vendor"\n',
      'main.go': goServer('greet.Word').replace('"fmt"', '"fmt"\n\t"example.com/greet"'),
    },
    pages: { '/': 'from vendor' },
  }),
  'a workspace in Go': inGo({
    files: {
      'go.work': 'go 1.21\n\nuse (\n\t./greet\n\t./till\n)\n',
      'greet/go.mod': 'module example.com/greet\n\ngo 1.21\n',
      'greet/greet.go': 'package greet\n\nconst Word = "from the workspace"\n',
      'till/go.mod': 'module example.com/till\n\ngo 1.21\n',
      'till/main.go': goServer('greet.Word').replace('"fmt"', '"fmt"\n\t"example.com/greet"'),
    },
    pages: { '/': 'from the workspace' },
  }),
  'a workspace in Go, whose programs find each other by the names of go install': inGo({
    files: {
      'go.work': 'go 1.21\n\nuse (\n\t./api\n\t./jobs\n)\n',
      'api/go.mod': 'module example.com/shop-api/v2\n\ngo 1.21\n',
      'api/main.go': goServer('swept()').replace('"os"', '"os"\n\t"os/exec"') + SWEPT,
      'jobs/go.mod': 'module example.com/jobs\n\ngo 1.21\n',
      'jobs/cmd/sweep/main.go': SWEEP,
      Procfile: 'web: shop-api\nsweep: bin/sweep always\n',
    },
    says: ['go build ./api ./jobs/cmd/sweep'],
    pages: { '/': 'swept: all <nil>' },
  }),
  'files in the program': inGo({
    files: {
      'go.mod': MODULE,
      'page.html': 'embedded',
      'main.go': goServer('page')
        .replace('"fmt"', '_ "embed"\n\t"fmt"')
        .replace('func main', '//go:embed page.html\nvar page string\n\nfunc main'),
    },
    pages: { '/': 'embedded' },
  }),
  'a module without its checksums': inGo({
    files: { 'go.mod': `${MODULE}\nrequire github.com/google/uuid v1.6.0\n`, 'main.go': goServer() },
    fails: {
      cause: 'invalid_config',
      message: /go.mod line 5 requires github.com\/google\/uuid, but there is no go.sum/,
    },
  }),
  'Go that does not compile': inGo({
    files: { 'go.mod': MODULE, 'main.go': goServer('missing') },
    fails: { cause: 'build_failed', message: /The step "go build \." failed with exit code 1/ },
    says: ['main.go:10', 'undefined: missing'],
  }),
  'a library in Go': inGo({
    files: { 'go.mod': MODULE, 'shop.go': 'package shop\n' },
    fails: { cause: 'no_process', message: /No directory of this source has a program/ },
  }),
  'a Procfile that names a program that is not made': inGo({
    files: { 'go.mod': MODULE, 'main.go': goServer(), Procfile: 'web: bin/server\n' },
    fails: {
      cause: 'invalid_config',
      message: /The process web runs bin\/server, which nothing of this source makes: .*bin\/shop/,
    },
  }),
};

const rustServer = (text: string): string => `use std::io::{Read, Write};

fn main() {
    let port = std::env::var("PORT").unwrap();
    let listener = std::net::TcpListener::bind(format!("0.0.0.0:{port}")).unwrap();
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let body = ${text};
        let _ = write!(stream, "HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: {}\\r\\n\\r\\n{body}", body.len());
    }
}
`;
const crate = (name: string, more = ''): string =>
  `[package]\nname = "${name}"\nversion = "0.1.0"\nedition = "2021"\n${more}`;
const inRust = (app: Omit<PushedApp, 'needs' | 'app'>): PushedApp => ({ needs: ['cargo'], app: 'rust', ...app });

export const RUST_APPS: PushedApps = {
  'Rust with one program': inRust({
    files: { 'Cargo.toml': crate('till'), 'src/main.rs': rustServer('"from Rust"') },
    pages: { '/': 'from Rust' },
  }),
  'Rust with a default-run': inRust({
    files: {
      'Cargo.toml': crate('shop', 'default-run = "till"\n'),
      'src/bin/till.rs': rustServer('"as it runs by default"'),
      'src/bin/sweep.rs': 'fn main() {}\n',
    },
    pages: { '/': 'as it runs by default' },
  }),
  'a workspace in Rust': inRust({
    files: {
      'Cargo.toml': '[workspace]\nresolver = "2"\nmembers = ["crates/*"]\n',
      'crates/greeting/Cargo.toml': crate('greeting'),
      'crates/greeting/src/lib.rs': 'pub const WORD: &str = "from the workspace";\n',
      'crates/till/Cargo.toml': `${crate('till')}[dependencies]\ngreeting = { path = "../greeting" }\n`,
      'crates/till/src/main.rs': rustServer('greeting::WORD'),
    },
    pages: { '/': 'from the workspace' },
  }),
  'several programs in Rust': inRust({
    files: { 'Cargo.toml': crate('shop'), 'src/bin/a.rs': 'fn main() {}\n', 'src/bin/b.rs': 'fn main() {}\n' },
    fails: { cause: 'no_process', message: /several programs.*target\/release\/a .*target\/release\/b/ },
  }),
  'Rust that does not compile': inRust({
    files: { 'Cargo.toml': crate('shop'), 'src/main.rs': 'fn main() { missing() }\n' },
    fails: { cause: 'build_failed', message: /The step "cargo build --release shop" failed with exit code 101/ },
    says: ['src/main.rs:1:13'],
  }),
};

export const JAVA_APPS: PushedApps = {
  'Maven, with a jar that is started': {
    needs: ['maven'],
    app: 'java',
    files: { 'pom.xml': mavenProject('demo.Shop'), ...javaShop('from Java') },
    pages: { '/': 'from Java' },
  },
  'Maven, with a jar without a main class': {
    needs: ['maven'],
    app: 'java',
    files: { 'pom.xml': mavenProject(null), ...javaShop('from Java') },
    fails: { cause: 'build_failed', message: /The step "looking for the executable jar" failed/ },
    says: ['Main-Class'],
  },
};

export const SCRIPTED_APPS: PushedApps = {
  'plain PHP': { needs: ['php'], files: { 'index.php': '<?php echo "PHP ", 40 + 2;' }, pages: { '/': 'PHP 42' } },
  "PHP in public, as Heroku's sample starts it": {
    needs: ['php', 'composer'],
    files: {
      'composer.json': json({ require: { php: '>=8.0' } }),
      'public/index.php': '<?php echo "path ", $_SERVER["REQUEST_URI"];',
      Procfile: 'web: heroku-php-apache2 public/\n',
    },
    pages: { '/orders/7': 'path /orders/7' },
  },
  'PHP with a package of its own repository': {
    needs: ['php', 'composer'],
    files: {
      'composer.json': json({
        repositories: [{ type: 'path', url: 'packages/greet' }, { packagist: false }],
        require: { 'demo/greet': '1.0.0' },
      }),
      'packages/greet/composer.json': json({
        name: 'demo/greet',
        version: '1.0.0',
        autoload: { files: ['greet.php'] },
      }),
      'packages/greet/greet.php': '<?php function greet() { return "found"; }',
      'public/index.php': '<?php require "../vendor/autoload.php"; echo greet();',
    },
    pages: { '/': 'found' },
  },
  'PHP that needs an extension that is not there': {
    needs: ['php'],
    files: { 'composer.json': json({ require: { 'ext-nowhere': '*' } }), 'index.php': '' },
    fails: { cause: 'toolchain_missing', message: /php/ },
    says: ['php-nowhere'],
  },
  'Rack without a Gemfile': {
    needs: ['ruby'],
    files: { 'config.ru': "run ->(env) { [200, { 'content-type' => 'text/plain' }, ['from Rack']] }\n" },
    pages: { '/': 'from Rack' },
  },
  'Ruby in a version that is not there': {
    needs: ['ruby'],
    files: { Gemfile: 'ruby "2.1.0"\ngem "rack"\n', 'config.ru': '' },
    fails: { cause: 'toolchain_missing', message: /asks for ruby 2.1.0, which this server does not have/ },
  },
};
