/** Starts git's own services (receive-pack, upload-pack) on a repository. */
import { once } from 'node:events';
import type { Duplex, Readable, Writable } from 'node:stream';
import { killGroup } from '../../../lib/processes.ts';
import { endGroup, exitOf, type Git, notStarted, spawnGit } from './git-command.ts';

export interface ServeRequest {
  readonly service: 'git-receive-pack' | 'git-upload-pack';
  /** `advertise` and `rpc` are the two halves of git over HTTP. */
  readonly mode: 'stream' | 'advertise' | 'rpc';
  /** What the client asks for in GIT_PROTOCOL or Git-Protocol; nonsense is ignored. */
  readonly protocol: string;
  /** Named in the log of reference changes. */
  readonly by: string;
}

export interface ServiceProcess {
  readonly input: Writable;
  readonly output: Readable;
  readonly errors: Readable;
  /** The two ends the pre-receive hook talks to (its file descriptors 3 and 4); null where no hook can run. */
  readonly hook: { readonly requests: Duplex; readonly lines: Writable } | null;
  /** The exit code, once all output was read; negative when a signal ended it. */
  readonly exited: Promise<number>;
  end(): void;
}

const PROTOCOL = /^[a-z0-9=:._-]{1,200}$/i;

/** Resolves once git runs; throws `unavailable` when it cannot be started. */
export async function serve(git: Git, repository: string, request: ServeRequest): Promise<ServiceProcess> {
  const flags = {
    stream: [],
    advertise: ['--stateless-rpc', '--advertise-refs'],
    rpc: ['--stateless-rpc'],
  }[request.mode];
  const strict = request.service === 'git-upload-pack' ? ['--strict'] : [];
  const hooked = request.service === 'git-receive-pack' && request.mode !== 'advertise';
  const env: Record<string, string> = {
    ...(PROTOCOL.test(request.protocol) ? { GIT_PROTOCOL: request.protocol } : {}),
    ...(hooked ? { TANCHO_PUSH: '1' } : {}),
    GIT_COMMITTER_NAME: request.by,
    GIT_COMMITTER_EMAIL: request.by,
  };
  const child = spawnGit(git, [request.service.slice('git-'.length), ...strict, ...flags, '--', repository], {
    env,
    isBounded: request.service === 'git-receive-pack',
    stdio: ['pipe', 'pipe', 'pipe', ...(hooked ? (['pipe', 'pipe'] as const) : [])],
  });
  const exited = exitOf(child);
  const { stdin: input, stdout: output, stderr: errors } = child;
  if (input === null || output === null || errors === null) throw notStarted(new Error('no pipes'));
  const hook = hooked ? { requests: child.stdio[3] as Duplex, lines: child.stdio[4] as Writable } : null;
  // Nobody is left to talk to, and an open end would keep `exited` waiting.
  child.once('exit', (_, signal) => {
    // Whoever killed git alone has left what it had started.
    if (signal !== null && child.pid !== undefined) killGroup(child.pid);
    hook?.requests.destroy();
    hook?.lines.destroy();
  });
  await once(child, 'spawn').catch((error: Error) => {
    throw notStarted(error);
  });
  return { input, output, errors, hook, exited, end: () => endGroup(child) };
}
