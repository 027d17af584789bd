import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { descriptorOf, listening } from '../lib/listening.ts';
import { readProcess } from '../lib/processes.ts';
import type { HandedListener, HandedListeners, SuccessorProgram } from './control/operations.ts';
import { type ProcessRequest, answerOver } from './link.ts';
import { LISTENER_FD, TLS_LISTENER_FD } from './listener.ts';

interface Successor {
  readonly pid: number;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

const BACKLOG = 1_024;

/**
 * Starts the edge that is to take over, with the same log and the listeners that it is to have; `act` answers what it asks of this one.
 * Rejects when an address cannot be bound: everything is as it was then.
 */
export async function startSuccessor(
  program: SuccessorProgram,
  listeners: HandedListeners,
  act: (request: ProcessRequest) => Promise<unknown>,
): Promise<Successor> {
  const { plain, tls } = listeners;
  const handed = [{ listener: plain, ours: LISTENER_FD }, ...(tls ? [{ listener: tls, ours: TLS_LISTENER_FD }] : [])];
  const servers = await Promise.all(handed.map(({ listener }) => boundFor(listener)));
  let child: ChildProcess;
  try {
    // In the same turn of the event loop as the binding: nothing is accepted here.
    child = spawned(
      program,
      handed.map(({ ours }, index) => fdOf(servers[index] ?? null) ?? ours),
    );
  } finally {
    for (const server of servers) server?.close();
  }
  await once(child, 'spawn');
  child.unref();
  const ended = new Promise<void>((resolve) => child.once('disconnect', resolve));
  answerOver(child, async (request) => {
    // It may have waited in vain, and ended, before this process came to hear of it: then nobody else serves.
    if (request.op === 'retire' && hasEnded(child.pid)) throw new Error('the edge that was to take over has ended');
    return act(request);
  });
  return { pid: child.pid ?? 0, ended };
}

/** False where the system does not say. */
function hasEnded(pid = 0): boolean {
  return readProcess(process.pid) !== null && readProcess(pid)?.zombie !== false;
}

/** Null: it is this edge's own. */
async function boundFor(listener: HandedListener): Promise<Server | null> {
  if (listener === 'ours') return null;
  const server = createServer((socket) => socket.destroy());
  await listening(server, { ...listener, backlog: BACKLOG });
  return server;
}

function fdOf(server: Server | null): number | null {
  return server === null ? null : descriptorOf(server);
}

function spawned({ execPath, args }: SuccessorProgram, descriptors: readonly number[]): ChildProcess {
  return spawn(execPath, args, {
    detached: true,
    env: {},
    stdio: ['ignore', 'inherit', 'inherit', ...descriptors, 'ipc'],
  });
}
