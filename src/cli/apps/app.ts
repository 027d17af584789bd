import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { registerCreate } from './create.ts';
import { registerInfo, registerList, registerOpenUrl } from './info.ts';
import { registerLog } from './log.ts';
import { registerQuota } from './quota.ts';
import { registerRemove, registerRestart } from './remove.ts';
import { registerRun } from './run.ts';
import { registerTokens } from './token.ts';

export function registerApp(app: Command, cli: Cli): void {
  registerCreate(app, cli);
  registerList(app, cli);
  registerInfo(app, cli);
  registerLog(app, cli);
  registerRun(app, cli);
  registerRestart(app, cli);
  registerOpenUrl(app, cli);
  registerQuota(app, cli);
  registerTokens(app, cli);
  registerRemove(app, cli);
}
