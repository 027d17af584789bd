/** An interactive shell beside the units: same code, environment, user and limits as a one-off command, on a terminal. */
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { ExecResult, Shell, ShellRequest } from '../../../domain/units/provisioner.ts';
import { Failure } from '../../../domain/failure.ts';
import { drained } from '../../../lib/drained.ts';
import { childEnd } from '../../../sandbox/child-end.ts';
import type { SandboxProcess } from '../../../sandbox/sandbox.ts';
import { exitStatus } from './exit-status.ts';
import { cancelled, withinDrainTime } from './one-off.ts';
import { type Beside, inPlace, type OneOffPlace } from './one-off-place.ts';
import { type OpenTerminal, openTerminal } from './terminal.ts';
import { surroundings } from './surroundings.ts';
import { unitEnvironment } from './unit-command.ts';

interface ShellOptions extends Beside {
  readonly request: ShellRequest;
}

const BASH = '/bin/bash';
const SH = '/bin/sh';
/** Gives a session a terminal to control; part of the standard system tools. */
const SETSID = '/usr/bin/setsid';

const END_AGAIN_MS = 250;

/** Throws Failure `cancelled`; `internal` when it cannot be started. */
export async function openShell(options: ShellOptions): Promise<Shell> {
  const { request } = options;
  if (request.signal.aborted) throw cancelled();
  let opened: (shell: Omit<Shell, 'ended'>) => void = () => {};
  const opening = new Promise<Omit<Shell, 'ended'>>((resolve) => (opened = resolve));
  const life = inPlace(options, request, (place, signal) =>
    live({ ...options, request: { ...request, signal } }, place, opened),
  );
  const shell = await Promise.race([opening, life.then(() => Promise.reject(notStarted(null)), failed)]);
  // What was left is cleared away also when that fails; the shell is over in any case.
  return { ...shell, ended: life.catch(() => ({ code: null, signal: 'SIGKILL' })) };
}

function failed(error: unknown): never {
  throw error instanceof Failure ? error : notStarted(error);
}

function notStarted(cause: unknown): Failure {
  const why = cause instanceof Error ? `: ${cause.message}` : '.';
  return new Failure('internal', `The shell cannot be started${why}`, { hint: 'Look at the log of the server.' });
}

/** From its start to the end of everything in it. */
async function live(
  options: ShellOptions,
  place: OneOffPlace,
  opened: (shell: Omit<Shell, 'ended'>) => void,
): Promise<ExecResult> {
  const { request, sandbox } = options;
  const terminal = request.size === null ? null : await openTerminal(request.size);
  try {
    const started = await start(options, place, terminal);
    place.started(started);
    const { child } = started;
    const { ended, end } = childEnd(sandbox, started, place.id);
    const closed = terminal?.closed ?? new Promise<void>((resolve) => child.once('close', () => resolve()));
    terminal?.taken();
    request.signal.addEventListener('abort', end);
    if (request.signal.aborted) end();
    try {
      opened(terminal === null ? overPipes(child, request) : overTerminal(terminal, request));
      const { code, signal } = await ended;
      await sandbox.kill({ ...started, id: place.id }, 'SIGKILL');
      terminal?.over();
      // Held output is given in any case.
      for (const stream of [terminal?.output, child.stdout, child.stderr]) stream?.resume();
      await withinDrainTime(closed);
      return exitStatus(code, signal);
    } finally {
      request.signal.removeEventListener('abort', end);
    }
  } finally {
    terminal?.close();
  }
}

async function start(
  options: ShellOptions,
  place: OneOffPlace,
  terminal: OpenTerminal | null,
): Promise<SandboxProcess> {
  const { request, sandbox, slug, port, services } = options;
  const { home, tmp, ...around } = surroundings(slug, place);
  const has = (program: string): boolean => slug.manifest.image?.programs.includes(program) ?? existsSync(program);
  if (!has(BASH) && !has(SH)) throw noShell();
  const program = has(BASH) ? [BASH, '--norc', '--noprofile'] : [SH];
  const prompt = has(BASH) ? `${request.unit.app} \\W \\$ ` : `${request.unit.app} $ `;
  const control = terminal !== null && has(SETSID) ? [SETSID, '--ctty', '--wait'] : [];
  const end = terminal?.theirs ?? 'pipe';
  return sandbox.spawn({
    argv: terminal === null ? program : [...control, ...program, '-i'],
    ...around,
    env: {
      ...unitEnvironment({ spec: request.unit, manifest: slug.manifest, home, tmp, port, links: place.links }),
      TERM: request.term,
      PS1: prompt,
    },
    tenant: request.unit.app,
    limits: request.unit.limits,
    stdio: [end, end, end],
    dieWithParent: true,
    id: place.id,
    services,
  });
}

function noShell(): Failure {
  return new Failure('exited', 'There is no shell in the image of this app.', {
    hint: 'Run one of its programs with "tancho app run".',
  });
}

function overTerminal(terminal: OpenTerminal, request: ShellRequest): Omit<Shell, 'ended'> {
  const { input, output } = terminal;
  output.on('data', request.output);
  // How a terminal says that nothing more is typed. A shell that edits its lines sees none that was typed before its prompt.
  const endInput = (): void => void (input.writableNeedDrain || input.write('\u0004'));
  let again: NodeJS.Timeout | null = null;
  return {
    isTerminal: true,
    write: (bytes) => written(input, bytes),
    endInput() {
      if (again !== null) return;
      endInput();
      const timer = (again = setInterval(endInput, END_AGAIN_MS));
      void terminal.closed.then(() => clearInterval(timer));
    },
    resize: (size) => terminal.resize(size),
    hold: (isHeld) => void (isHeld ? output.pause() : output.resume()),
  };
}

function overPipes(child: ChildProcess, { output }: ShellRequest): Omit<Shell, 'ended'> {
  const [input, out, errors] = [child.stdin as Writable, child.stdout as Readable, child.stderr as Readable];
  // A shell that has ended reads nothing any more.
  input.on('error', () => {});
  for (const stream of [out, errors]) stream.on('data', output);
  return {
    isTerminal: false,
    write: (bytes) => written(input, bytes),
    endInput: () => void input.end(),
    resize: () => {},
    hold(isHeld) {
      for (const stream of [out, errors]) void (isHeld ? stream.pause() : stream.resume());
    },
  };
}

async function written(stream: Writable, bytes: Uint8Array): Promise<void> {
  if (stream.destroyed || stream.writableEnded || stream.write(bytes)) return;
  await drained(stream);
}
