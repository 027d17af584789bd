/**
 * How one that starts `tancho edge run` gets the listeners of the edge that runs in the same home: that edge starts the new one with them, and with a connection
 * to here in place of input and output. So nobody is turned away, and what was begun is finished by whoever began it.
 */
import { once } from 'node:events';
import { chown, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EdgeConnection } from '../backends/router/edge/edge-connection.ts';
import type { EdgeDoors, Hello, BoundPorts } from '../backends/router/edge/edge-doors.ts';
import type { EdgeProcessOptions } from '../backends/router/edge/edge-options.ts';
import { socketsOf } from '../backends/router/edge/edge-places.ts';
import { canStartAs, commandOf, type EdgeProgram, isEdgeOf } from '../backends/router/edge/edge-process.ts';
import { handedBy } from '../backends/router/edge/handed-listeners.ts';
import { PlatformError } from '../domain/errors.ts';
import { listeningPrivately } from '../lib/listening.ts';
import { isAlive, readProcess } from '../lib/processes.ts';

const CONNECT_MS = 2_000;
const HELLO_MS = 5_000;
/** It has the table of the edge before it, and waits for no server. */
const START_MS = 60_000;
const POLL_MS = 10;

/** The process that serves. */
export interface LivingEdge {
  readonly pid: number;
  /** Never rejects. */
  readonly ended: Promise<unknown>;
}

export interface FoundEdge {
  readonly client: EdgeConnection;
  readonly hello: Hello;
}

/** The edge that serves for these directories, and gives way to one that is started here; null: there is none, or the system does not say who is a process of it. */
export async function findEdge(options: EdgeProcessOptions): Promise<FoundEdge | null> {
  if (process.platform !== 'linux') return null;
  const client = await EdgeConnection.connectAny(socketsOf(options), CONNECT_MS, () => {});
  const hello = (await client?.ask('hello', {}, HELLO_MS).catch(() => null)) as Hello | null | undefined;
  if (client !== null && hello?.follows === true && canStartAs(options, hello.pid)) return { client, hello };
  client?.close();
  return null;
}

interface Wanted {
  readonly process: EdgeProcessOptions;
  readonly program: EdgeProgram;
  readonly doors: EdgeDoors;
  readonly env: Readonly<Record<string, string>>;
}

/** Resolves once the new one serves, and no other. Throws where that cannot be done; the edge that was found serves on then. */
export async function takeOver(
  { client, hello }: FoundEdge,
  { process: options, program, doors, env }: Wanted,
): Promise<{ readonly edge: LivingEdge; readonly ports: BoundPorts }> {
  const socket = join(options.runDir, 'owner.sock');
  const owned = await ownerAt(socket, options.user ?? null);
  try {
    const { host, tls, ports, listeners } = (await handedBy(hello, doors)) ?? collides();
    const at = { ...options, listen: { host, port: ports.port }, tls };
    const command = commandOf(at, program, { ports, starter: hello.pid });
    const request = { program: { ...command, owner: { socket, env } }, listeners };
    const { pid } = (await client.ask('succeed', request, START_MS)) as { readonly pid: number };
    const output = await owned.connection;
    output.pipe(process.stderr, { end: false });
    const start = readProcess(pid)?.start ?? '';
    await serving(options, { pid, start });
    return { edge: { pid, ended: gone(output, { pid, start }) }, ports };
  } finally {
    await owned.close();
    client.close();
  }
}

function collides(): never {
  throw new PlatformError('config.invalid', 'The edge that runs has one of the addresses for something else.', {
    hint: 'Stop it, then start this one.',
  });
}

interface Process {
  readonly pid: number;
  readonly start: string;
}

/** For one connection, of that user. */
async function ownerAt(
  path: string,
  user: number | null,
): Promise<{ readonly connection: Promise<Socket>; close(): Promise<void> }> {
  const server = createServer();
  server.maxConnections = 1;
  const connection = once(server, 'connection', { signal: AbortSignal.timeout(START_MS) }).then(
    ([socket]) => socket as Socket,
  );
  connection.catch(() => {});
  await rm(path, { force: true });
  await listeningPrivately(server, path);
  // The directory is one that only the owner of this process writes to.
  if (user !== null) await chown(path, user, user);
  return {
    connection,
    async close() {
      server.close();
      await rm(path, { force: true });
    },
  };
}

async function serving(options: EdgeProcessOptions, { pid, start }: Process): Promise<void> {
  const deadline = performance.now() + START_MS;
  while (isAlive(pid, start)) {
    const found = await findEdge(options);
    found?.client.close();
    if (found?.hello.pid === pid && (await isEdgeOf(options, pid))) return;
    if (performance.now() > deadline) break;
    await delay(POLL_MS);
  }
  throw new PlatformError('unavailable', 'The edge did not take over from the one that runs, which serves on.', {
    hint: 'The lines before this one say why.',
  });
}

/** Its workers have the connection, too, and may end a little later. */
async function gone(output: Socket, { pid, start }: Process): Promise<void> {
  output.on('error', () => {});
  if (!output.closed) await new Promise((resolve) => output.once('close', resolve));
  while (isAlive(pid, start)) await delay(POLL_MS);
}
