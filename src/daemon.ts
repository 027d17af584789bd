/**
 * The platform as a whole: configuration -> backends -> domain -> doors. Starts it in an order in which a crash at any point
 * is harmless, and stops it in the reverse one. Which part gets which other one is in daemon/.
 */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { openBackends } from './backends/registry.ts';
import { KeeperWaiter } from './backends/router/edge/keeper-waiter.ts';
import type { Config } from './config/config.ts';
import { isLoopback } from './daemon/addresses.ts';
import { loadAhead } from './daemon/load-ahead.ts';
import type { Daemon } from './daemon/serve.ts';
import { PRE_RECEIVE } from './git-push/hook.ts';
import { demandWholeRestore } from './lib/backups/unfinished-restore.ts';
import { claimHome } from './lib/home-claim.ts';
import { endKeeper } from './lib/keeper-claim.ts';
import { mover, StateMoves } from './lib/move-claim.ts';
import { placeSealKey } from './lib/seal.ts';
import { openServerLog } from './lib/server-log.ts';

export async function startDaemon(config: Config, options: { version: string }): Promise<Daemon> {
  const runDir = path.join(config.home, 'run');
  await mkdir(runDir, { recursive: true, mode: 0o711 });
  const files = { control: path.join(runDir, 'control.pid'), keeper: path.join(runDir, 'keeper.pid') };
  const release = await claimHome(files.control);
  try {
    await demandWholeRestore(config.home);
    const moving = await mover(config.home);
    if (moving !== null) throw new StateMoves(moving);
    const keeper = await KeeperWaiter.open({ stateDir: path.join(config.home, 'edge'), runDir });
    await endKeeper(files);
    if (config.secretKey !== null) await placeSealKey(path.join(config.home, 'secret.key'), config.secretKey);
    const log = await openServerLog(path.join(config.home, 'log'));
    const ownPorts = new Set(
      [config.apiListen, config.sshListen, ...(config.ownEdge ? [config.edgeListen] : [])].map(({ port }) => port),
    );
    const backends = await openBackends(config, {
      logger: log.logger,
      preReceive: PRE_RECEIVE,
      allowLoopback: isLoopback(config.apiListen.host),
      ownPorts: () => [...ownPorts],
      keeper,
      programDir: import.meta.dirname,
      version: options.version,
      onReading: () => void loadAhead(),
    });
    try {
      const { serve } = await import('./daemon/serve.ts');
      const { logger, close: closeLog } = log;
      return await serve(config, backends, { ...options, logger, runDir, release, closeLog, ownPorts });
    } catch (error) {
      await backends.close('failed start');
      throw error;
    }
  } catch (error) {
    await release();
    throw error;
  }
}
