import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { addUpload } from '../deploys/upload.ts';
import { registerCreate } from './create.ts';
import { registerGrant, registerRevoke } from './grant.ts';
import { registerInfo, registerList, registerOpenUrl } from './info.ts';
import { registerLog } from './log.ts';
import { registerQuota } from './quota.ts';
import { registerRemove } from './remove.ts';
import { registerRun } from './run.ts';
import { registerShell } from './shell.ts';
import { registerRestart, registerStart, registerStop } from './start-stop.ts';
import { registerSwap } from './swap.ts';
import { registerUpdate } from './update.ts';
import { registerTokens } from './token.ts';
import { registerUpkeep } from './upkeep.ts';

export function registerApp(app: Command, cli: Cli): void {
  registerCreate(app, cli);
  registerList(app, cli);
  registerInfo(app, cli);
  addUpload(app.command('deploy').description('Deploy a directory: the same as "tancho deploy"'), cli);
  registerLog(app, cli);
  registerRun(app, cli);
  registerShell(app, cli);
  registerRestart(app, cli);
  registerStop(app, cli);
  registerStart(app, cli);
  registerSwap(app, cli);
  registerUpdate(app, cli);
  registerGrant(app, cli);
  registerRevoke(app, cli);
  registerOpenUrl(app, cli);
  registerQuota(app, cli);
  registerTokens(app, cli);
  registerUpkeep(app, cli);
  registerRemove(app, cli);
}
