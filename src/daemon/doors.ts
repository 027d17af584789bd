/** Wires the use cases into the doors: the API, git over HTTP and over ssh. */
import path from 'node:path';
import { refuseApps } from '../api/caller.ts';
import { type ApiServer, createApiServer } from '../api/server.ts';
import type { Backends } from '../backends/registry.ts';
import { type Config, EDGE_DOOR } from '../config/config.ts';
import { mayStill } from '../domain/apps/may-still.ts';
import type { PlatformCounters } from '../domain/metrics/platform-counters.ts';
import type { UseCases } from '../domain/use-cases.ts';
import { sharedHostKey } from '../git-push/host-key.ts';
import { createGitHttp } from '../git-push/http.ts';
import { callerNow } from '../domain/caller-now.ts';
import { createGitSessions, type GitSessions } from '../git-push/sessions.ts';
import { createSshDoor, type SshDoor } from '../git-push/ssh.ts';
import type { Logger } from '../lib/logger.ts';
import { openSealer } from '../lib/seal.ts';
import { peerUser } from '../lib/peer-user.ts';
import { TrustedProxies } from '../lib/trusted-proxies.ts';
import { demandReady } from './ready.ts';
import type { ReservedPorts } from './reserved-ports/reserved-ports.ts';

export interface Doors {
  readonly api: ApiServer;
  readonly ssh: SshDoor;
  readonly sessions: GitSessions;
}

export interface DoorsOptions {
  readonly version: string;
  readonly logger: Logger;
  readonly runDir: string;
  readonly counters: Pick<PlatformCounters, 'apiAnswered'>;
  /** False until the platform can serve. */
  readonly ready: () => boolean;
  /** Before it resolves requests are refused, and commands over SSH wait for a while. */
  readonly opened: Promise<void>;
  readonly ports: Pick<ReservedPorts, 'descriptor'>;
}

/** All or none: when one cannot listen, those before it are closed. */
export async function openDoors(
  config: Config,
  backends: Backends,
  useCases: UseCases,
  options: DoorsOptions,
): Promise<Doors> {
  const { logger, ready, opened, ports } = options;
  const at = (door: string, place: Config['apiListen']) => ({ ...place, fd: ports.descriptor(door, place) });
  const trustedProxies = new TrustedProxies(config.trustedProxies);
  const sessions = createGitSessions({
    repositories: backends.gitHost,
    apps: useCases.apps,
    callerNow: (caller) => callerNow(backends.store, caller, new Date().toISOString()),
    mayStill: (caller, action, app) => mayStill(backends.store, caller, action, app, new Date().toISOString()),
    audit: useCases.audit,
    deploys: useCases.deploys,
    disk: useCases.diskUse,
    logger,
  });
  const hostKeyFile = path.join(config.home, 'ssh_host_ed25519_key');
  const sealer = await openSealer(path.join(config.home, 'secret.key'));
  const isShared = config.databaseUrl !== null;
  const ssh = await createSshDoor({
    listen: at('ssh', config.sshListen),
    opened,
    hostKeyFile,
    ...(isShared && { hostKey: await sharedHostKey(hostKeyFile, { store: backends.store, sealer }) }),
    users: useCases.users,
    audit: useCases.audit,
    sessions,
    logger,
  });
  const users = backends.sharedNetwork?.users ?? null;
  const appUsers = users === null ? null : { ...users, userOf: peerUser };
  try {
    const api = await createApiServer({
      useCases,
      listen: at('api', config.apiListen),
      opened,
      socketPath: path.join(options.runDir, 'api.sock'),
      edgeDoor: config.ownEdge ? path.join(options.runDir, EDGE_DOOR) : null,
      edgeUser: backends.edgeUser,
      version: options.version,
      logger,
      trustedProxies,
      appUsers,
      ready: () => demandReady(ready, backends.store),
      onAnswered: (operation, status, ms) => options.counters.apiAnswered(operation, status, ms),
      stateVersion: () => backends.store.version(),
      gitHandler: createGitHttp({
        users: useCases.users,
        refuseApps: (request) => refuseApps(request, appUsers),
        audit: useCases.audit,
        sessions,
        logger,
        trustedProxies,
      }),
    });
    return { api, ssh, sessions };
  } catch (error) {
    await ssh.close();
    throw error;
  }
}
