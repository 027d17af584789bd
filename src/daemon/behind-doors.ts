/** The doors are had before any unit is started, for one could listen there in their place. Whoever comes too early is asked to come again. */
import type { Backends } from '../backends/registry.ts';
import type { Config } from '../config/config.ts';
import { recover, type RecoveryDeps } from '../domain/recovery.ts';
import type { UseCases } from '../domain/use-cases.ts';
import { type Doors, type DoorsOptions, openDoors } from './doors.ts';
import { ReservedPorts } from './reserved-ports/reserved-ports.ts';

const NOT_KEPT = 'while this server is away, apps can listen at the ports of its API and of SSH';

interface Behind {
  readonly doors: Doors;
  readonly ports: ReservedPorts;
  readonly background: Awaited<ReturnType<typeof recover>>['background'];
  /** Requests are served from now on. */
  open(): void;
}

export async function recoverBehindDoors(
  config: Config,
  { backends, useCases, recovery }: { backends: Backends; useCases: UseCases; recovery: RecoveryDeps },
  options: Omit<DoorsOptions, 'opened' | 'ports'>,
): Promise<Behind> {
  const { logger } = options;
  const wanted = { api: config.apiListen, ssh: config.sshListen };
  const ports = await ReservedPorts.open({ home: config.home, logger, wanted });
  const opening = Promise.withResolvers<void>();
  // Rejected, it is for commands that wait over SSH.
  opening.promise.catch(() => undefined);
  const doors = await openDoors(config, backends, useCases, { ...options, opened: opening.promise, ports });
  try {
    const api = { ...wanted.api, descriptor: doors.api.descriptor };
    const ssh = { ...wanted.ssh, descriptor: doors.ssh.descriptor };
    // An app could take them while control is away.
    const areOpenToApps = backends.sharedNetwork !== null && config.processEngine;
    if (!areOpenToApps) await ports.end();
    else
      await ports
        .hold({ api, ssh })
        .catch((error: unknown) => logger.warn({ err: error }, `${NOT_KEPT}: ${(error as Error).message}`));
    const { background, ...recovered } = await recover(recovery);
    logger.info(recovered, 'recovered');
    return { doors, ports, background, open: opening.resolve };
  } catch (error) {
    opening.reject(error);
    ports.settle();
    await Promise.all([doors.api.close(), doors.ssh.close(), ports.wereKept ? null : ports.end()]);
    throw error;
  }
}
