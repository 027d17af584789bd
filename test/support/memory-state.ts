/** What the memory platform remembers, and who may see it. */
import { type Action, demand } from '../../src/domain/access.ts';
import type { App, EnvVar } from '../../src/domain/apps/app.ts';
import type { AppView } from '../../src/domain/apps/apps.ts';
import { appState, type Unit } from '../../src/domain/units/unit.ts';
import type { Caller } from '../../src/domain/caller.ts';
import type { Deploy } from '../../src/domain/deploys/deploy.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import type { LogEntry } from '../../src/domain/logs/entry.ts';

export class Memory {
  reserve: (owner: string) => Promise<void> = async () => {};
  readonly records = new Map<string, App>();
  readonly units = new Map<string, Unit[]>();
  readonly envs = new Map<string, Map<string, EnvVar>>();
  readonly deploys: Deploy[] = [];
  readonly entries: LogEntry[] = [];
  readonly listeners = new Set<() => void>();

  allowed(caller: Caller, action: Action, name: string): App {
    const app = this.records.get(name);
    if (app === undefined) throw new PlatformError('app.not_found', `App ${name} not found.`);
    demand(caller, action, { app });
    return app;
  }

  view(app: App): AppView {
    const own = this.units.get(app.name) ?? [];
    return {
      app,
      units: own,
      state: appState(own, app.desired, app.release !== null),
      problems: [],
      repositoryUrl: `ssh://git@localhost:2222/${app.name}.git`,
      address: `${app.name}.localhost:8000`,
      processUrls: app.routedProcesses.map((process) => ({
        ...{ process, url: `http://${process}.${app.name}.localhost:8000` },
      })),
      ip: '127.0.0.1',
    };
  }

  running(app: App): Unit {
    const unit = this.units.get(app.name)?.[0];
    if (unit === undefined)
      throw new PlatformError('app.not_deployed', `The app ${app.name} has not been deployed yet.`);
    return unit;
  }
}
