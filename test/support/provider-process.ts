/** A bundled provider as `tancho provider ...` runs it: the built program in a process of its own, which can be killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { builtProgram } from './built.ts';
import { until } from './until.ts';

const START_MS = 120_000;

export interface ProviderProcess {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** What a service is created from. */
  readonly manifest: string;
  /** Everything it has printed. */
  output(): string;
  end(signal: NodeJS.Signals): Promise<void>;
  /** On the same port. */
  startAgain(): Promise<void>;
}

/** `kind`: postgres, redis or mock; `serverUrl`: of the server behind it. */
export async function startProviderProcess(
  kind: string,
  serverUrl: string,
  flags: readonly string[] = [],
): Promise<ProviderProcess> {
  const program = path.join(await builtProgram(), 'main.js');
  const password = 'of-the-provider';
  let place = '127.0.0.1:0';
  let printed = '';
  let child: ChildProcess;

  async function start(): Promise<void> {
    const from = printed.length;
    const env = {
      PATH: process.env['PATH'] ?? '',
      TANCHO_PROVIDER_URL: serverUrl,
      TANCHO_PROVIDER_PASSWORD: password,
    };
    child = spawn(process.execPath, [program, 'provider', kind, '--listen', place, ...flags], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data: Buffer) => (printed += data.toString()));
    await until(
      () => {
        if (child.exitCode !== null) throw new Error(`the provider ended:\n${printed.slice(from)}`);
        return printed.slice(from).includes('Ctrl-C stops');
      },
      { timeoutMs: START_MS, everyMs: 5, what: 'the provider to be ready', detail: () => printed.slice(from) },
    );
    place = /^Address: +http:\/\/(\S+)$/m.exec(printed.slice(from))?.[1] ?? place;
  }

  await start();
  const found = (label: string): string => new RegExp(`^${label}: +(\\S+)`, 'm').exec(printed)?.[1] ?? '';
  const url = found('Address');
  const username = found('Username');
  return {
    url,
    username,
    password,
    manifest: `id: ${username}\nusername: ${username}\npassword: ${password}\nendpoint:\n  production: ${url}\n`,
    output: () => printed,
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
    startAgain: start,
  };
}
