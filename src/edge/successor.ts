import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { descriptorOf, listening } from '../lib/listening.ts';
import { readProcess } from '../lib/processes.ts';
import type { HandedListener, HandedListeners, SuccessorOwner, SuccessorProgram } from './control/operations.ts';
import { type ProcessRequest, answerOver } from './link.ts';
import { LISTENER_FD, TLS_LISTENER_FD } from './listener.ts';

interface Successor {
  readonly pid: number;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

const BACKLOG = 1_024;
const OWNER_MS = 5_000;

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
  const owner = program.owner === undefined ? null : await connectedTo(program.owner);
  let servers: readonly (Server | null)[] = [];
  let child: ChildProcess;
  try {
    servers = await Promise.all(handed.map(({ listener }) => boundFor(listener)));
    // In the same turn of the event loop as the binding: nothing is accepted here.
    child = spawned(
      program,
      handed.map(({ ours }, index) => fdOf(servers[index] ?? null) ?? ours),
      fdOf(owner),
    );
  } finally {
    owner?.destroy();
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

async function connectedTo({ socket: path }: SuccessorOwner): Promise<Socket> {
  const socket = connect(path);
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(OWNER_MS) });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function fdOf(handle: Server | Socket | null): number | null {
  return handle === null ? null : descriptorOf(handle);
}

/** `owner`: descriptor of a connection to it, which the program has in place of input, output and errors. */
function spawned(
  { execPath, args, owner }: SuccessorProgram,
  descriptors: readonly number[],
  ownerFd: number | null,
): ChildProcess {
  const own = ownerFd === null ? (['ignore', 'inherit', 'inherit'] as const) : [ownerFd, ownerFd, ownerFd];
  return spawn(execPath, args, { detached: true, env: owner?.env ?? {}, stdio: [...own, ...descriptors, 'ipc'] });
}
