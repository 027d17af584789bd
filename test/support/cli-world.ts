/** The command line in this process: its own home, user home and working directory, its output as text. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import type { CliContext } from '../../src/cli/context.ts';
import { runCli } from '../../src/cli/program.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly cwd?: string;
  readonly signal?: AbortSignal;
  readonly server?: CliContext['server'];
  readonly packageRoot?: string;
  /** Called with every piece of standard output. */
  readonly onOut?: (text: string) => void;
}

export class CliWorld {
  readonly folder = mkdtempSync(join(tmpdir(), 'tancho-cli-'));
  /** TANCHO_HOME. */
  readonly home = join(this.folder, 'home');
  readonly userHome = join(this.folder, 'user');
  readonly work = join(this.folder, 'work');
  readonly env: NodeJS.ProcessEnv = { HOME: this.userHome, PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null' };

  constructor() {
    for (const path of [this.home, this.userHome, this.work]) mkdirSync(path);
  }

  async run(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
    let [out, err] = ['', ''];
    const stdout = collect((text) => {
      out += text;
      options.onOut?.(text);
    });
    const stderr = collect((text) => (err += text));
    const code = await runCli(argv, { ...this.context(options), stdout, stderr });
    return { code, out, err };
  }

  /** Its output goes nowhere. */
  context(options: RunOptions = {}): CliContext {
    return {
      env: { ...this.env, ...options.env },
      stdin: options.stdin === undefined ? new PassThrough().end() : Readable.from([Buffer.from(options.stdin)]),
      stdout: collect(() => {}),
      stderr: collect(() => {}),
      cwd: options.cwd ?? this.work,
      home: this.home,
      version: '9.9.9',
      packageRoot: options.packageRoot ?? this.folder,
      signal: options.signal ?? new AbortController().signal,
      server: options.server ?? NO_SERVER,
    };
  }

  git(...args: readonly string[]): string {
    return execFileSync('git', [...args], { cwd: this.work, env: this.env, encoding: 'utf8' }).trim();
  }

  dispose(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function collect(add: (text: string) => void): Writable {
  return new Writable({
    write(chunk: Buffer, _, done) {
      add(chunk.toString());
      done();
    },
  });
}

const NO_SERVER: CliContext['server'] = {
  start: () => Promise.reject(new Error('this test starts no server')),
  startEdge: () => Promise.reject(new Error('this test runs no edge')),
  pushProgram: () => Promise.reject(new Error('this test pushes no image')),
  checkMove: () => Promise.reject(new Error('this test moves nothing')),
  bringAhead: () => Promise.reject(new Error('this test moves nothing')),
  moveState: () => Promise.reject(new Error('this test moves nothing')),
  onSignal() {},
  exit() {},
  again() {},
};
