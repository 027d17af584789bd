/** Compiled languages: small apps are really built, by the names that people expect, and run. */
import { execFileSync } from 'node:child_process';
import { expect, it, type TestContext } from 'vitest';
import { builderWorld } from '../support/builder-world.ts';
import { answer, startProcess } from '../support/running-process.ts';
import { treeOf } from '../support/source-trees.ts';

const PATIENCE_MS = 15 * 60_000;

function isRunnable(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function needs(test: TestContext, program: string, args: readonly string[]): void {
  if (!isRunnable(program, args)) test.skip(`${program} is not installed`);
}

/** Builds the source and returns what its first page and its processes say. */
async function built(
  platform: string,
  files: Record<string, string>,
  look: (page: string, lines: string) => void,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<void> {
  const world = await builderWorld(undefined, { more: { buildTimeoutMs: PATIENCE_MS, environment } });
  try {
    const artifact = await world.build({ app: 'shop', platform, source: treeOf(files) });
    const manifest = await world.manifest(artifact);
    const running = await startProcess({
      command: artifact.processes['web'] ?? '',
      cwd: world.code(artifact),
      manifest,
    });
    try {
      look(await (await answer(running)).text(), world.lines.join('\n'));
    } finally {
      await running.stop();
    }
  } finally {
    await world.dispose();
  }
}

const RUST_SERVER = `use std::io::{Read, Write};

fn main() {
    let port = std::env::var("PORT").unwrap();
    let listener = std::net::TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        stream.read(&mut [0; 4096]).unwrap();
        let said = std::process::Command::new("sweep").output().unwrap().stdout;
        let body = format!("{}: {}", greeting::WORD, String::from_utf8(said).unwrap());
        write!(stream, "HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: {}\\r\\n\\r\\n{body}", body.len()).unwrap();
    }
}
`;

it(
  'a Rust workspace: its programs are in target/release, and find each other',
  { timeout: PATIENCE_MS },
  async (test) => {
    needs(test, 'rustc', ['--version']);
    needs(test, 'cc', ['--version']);
    const crate = (name: string): string => `[package]\nname = "${name}"\nversion = "0.1.0"\nedition = "2021"\n`;
    const files = {
      'Cargo.toml': '[workspace]\nresolver = "2"\nmembers = ["crates/*"]\n',
      'crates/greeting/Cargo.toml': crate('greeting'),
      'crates/greeting/src/lib.rs': 'pub const WORD: &str = "swept";\n',
      'crates/till/Cargo.toml': `${crate('till')}[dependencies]\ngreeting = { path = "../greeting" }\n`,
      'crates/till/src/main.rs': RUST_SERVER,
      'crates/sweep/Cargo.toml': crate('sweep'),
      'crates/sweep/src/main.rs': 'fn main() { print!("all"); }\n',
      Procfile: 'web: ./target/release/till\nsweep: sweep\n',
    };
    // Where rustup keeps it: what lies in somebody's home is not seen by builds.
    const directory = execFileSync('rustc', ['--print', 'sysroot'], { encoding: 'utf8' }).trim();
    needs(test, `${directory}/bin/cargo`, ['--version']);
    const environment = { ...process.env, PATH: `${directory}/bin:${process.env['PATH'] ?? ''}` };
    const look = (page: string, lines: string): void => {
      expect(page).toBe('swept: all');
      expect(lines).toContain('cargo build --release sweep till');
    };
    await built('rust', files, look, environment);
  },
);
