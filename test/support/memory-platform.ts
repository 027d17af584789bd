/** Apps, deploys and logs in memory: small but honest use cases for tests of the API alone. Nothing really runs. */
import { type Action, demand, may } from '../../src/domain/access.ts';
import { type App, checkAppName, type EnvVar } from '../../src/domain/apps/app.ts';
import type { Apps, AppView } from '../../src/domain/apps/apps.ts';
import type { Env } from '../../src/domain/apps/env.ts';
import type { Run } from '../../src/domain/apps/run.ts';
import { appState, type Unit } from '../../src/domain/apps/unit.ts';
import type { Caller } from '../../src/domain/caller.ts';
import type { Deploy } from '../../src/domain/deploys/deploy.ts';
import type { Deploys } from '../../src/domain/deploys/deploys.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import type { LogEntry } from '../../src/domain/logs/entry.ts';
import type { Logs } from '../../src/domain/logs/logs.ts';
import { randomHex, timeOrderedId } from '../../src/lib/ids.ts';
import type { UseCases } from '../../src/domain/use-cases.ts';
import { memoryAdministration } from './memory-administration.ts';

const PLATFORM = {
  name: 'static',
  description: 'Files.',
  ready: true,
  tools: ['cat 9'],
  missing: [],
  isDisabled: false,
  isAdded: false,
};

export type MemoryPlatform = Omit<
  UseCases,
  'users' | 'teams' | 'quotas' | 'appTokens' | 'healers' | 'services' | 'instances' | 'bindings' | 'serviceProxy'
> & {
  readonly records: Map<string, App>;
  readonly units: ReadonlyMap<string, readonly Unit[]>;
  /** Asked before an app is added. */
  reserve: (owner: string) => Promise<void>;
  putEnv(app: string, variables: readonly EnvVar[]): void;
  /** Gives an app one started unit and a finished deploy. */
  deployed(name: string): void;
  /** Adds an entry and tells followers. */
  addEntry(app: string, message: string): void;
};

/** What is remembered. */
class Memory {
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
      repositoryUrl: `ssh://git@localhost:2222/${app.name}.git`,
      address: `${app.name}.localhost:8000`,
    };
  }

  running(app: App): Unit {
    const unit = this.units.get(app.name)?.[0];
    if (unit === undefined)
      throw new PlatformError('app.not_deployed', `The app ${app.name} has not been deployed yet.`);
    return unit;
  }
}

function appsIn(memory: Memory): Apps {
  return {
    async create(caller, input) {
      demand(caller, 'app.create');
      if (caller.kind !== 'user') throw new PlatformError('access.denied', 'Only a user can own apps.');
      const name = checkAppName(input.name, new Set());
      if (memory.records.has(name))
        throw new PlatformError('app.name_taken', `There is already an app called ${name}.`);
      if (input.platform !== PLATFORM.name) throw new PlatformError('platform.not_found', 'Invalid platform');
      const [team, ...more] = input.teamOwner === undefined ? caller.teams : [String(input.teamOwner)];
      if (team === undefined) throw new PlatformError('team.required', 'You belong to no team.');
      if (more.length > 0) throw new PlatformError('team.ambiguous', 'You belong to more than one team.');
      if (!caller.teams.includes(team)) throw new PlatformError('team.not_found', `Team "${team}" not found.`);
      const app = newApp(name, caller.email, team, String(input.description ?? ''));
      await memory.reserve(app.owner);
      memory.records.set(name, app);
      return memory.view(app);
    },
    async list(caller) {
      demand(caller, 'app.list');
      const seen = [...memory.records.values()].filter(
        (app) => caller.kind === 'user' && (caller.isAdmin || app.teams.some((team) => caller.teams.includes(team))),
      );
      return seen.sort((a, b) => (a.name < b.name ? -1 : 1)).map((app) => memory.view(app));
    },
    info: async (caller, name) => memory.view(memory.allowed(caller, 'app.info', name)),
    async remove(caller, name, say) {
      memory.allowed(caller, 'app.remove', name);
      say(`---- Removing application "${name}" ----`);
      for (const map of [memory.records, memory.units, memory.envs]) map.delete(name);
      say('---- Done removing application ----');
    },
    async restart(caller, name, say) {
      memory.running(memory.allowed(caller, 'app.restart', name));
      say(`---- Restarting the app "${name}" ----`);
    },
  };
}

function envIn(memory: Memory): Env {
  return {
    async get(caller, name, names) {
      memory.allowed(caller, 'env.get', name);
      const all = [...(memory.envs.get(name)?.values() ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
      return names === undefined ? all : all.filter((variable) => names.includes(variable.name));
    },
    async set(caller, name, vars, _change, say) {
      memory.allowed(caller, 'env.set', name);
      const own = memory.envs.get(name) ?? new Map<string, EnvVar>();
      for (const variable of vars) checkVariable(variable.name);
      for (const { name: key, value, public: isPublic } of vars) {
        own.set(String(key), { name: String(key), value: String(value), public: isPublic, managedBy: '' });
      }
      memory.envs.set(name, own);
      say(`---- Setting ${vars.length} new environment variables ----`);
    },
    async unset(caller, name, names, _change, say) {
      memory.allowed(caller, 'env.unset', name);
      for (const key of names) memory.envs.get(name)?.delete(String(key));
      say(`---- Unsetting ${names.length} environment variables ----`);
    },
  };
}

/** Knows two commands: `echo <text>` and `exit <code>`. */
function runIn(memory: Memory): Run {
  return {
    async run(caller, name, request) {
      memory.running(memory.allowed(caller, 'app.run', name));
      const [word, ...rest] = String(request.command).split(' ');
      if (word === 'echo') request.output(Buffer.from(`${rest.join(' ')}\n`));
      return word === 'exit' ? Number(rest[0]) : 0;
    },
  };
}

function select(memory: Memory, app: string, query: Parameters<Logs['query']>[2]): LogEntry[] {
  const matching = memory.entries.filter(
    (entry) =>
      entry.app === app &&
      (!query.source || entry.source === query.source) &&
      (!query.unit || entry.unit === query.unit),
  );
  return Number(query.lines) === 0 ? matching : matching.slice(-Number(query.lines));
}

function logsIn(memory: Memory): Logs {
  return {
    push: async (caller, app) => void memory.allowed(caller, 'app.log_push', app),
    clear: async (caller) => demand(caller, 'app.log_clear'),
    async query(caller, app, query) {
      memory.allowed(caller, 'app.log', app);
      return select(memory, app, query);
    },
    async follow(caller, app, query, signal) {
      memory.allowed(caller, 'app.log', app);
      return followEntries(
        select(memory, app, query),
        () => memory.entries.filter((entry) => entry.app === app),
        memory.listeners,
        signal,
      );
    },
  };
}

function deploysIn(memory: Memory, apps: Apps): Deploys {
  return {
    async list(caller, filter) {
      demand(caller, 'deploy.list');
      if (filter.app !== undefined) memory.allowed(caller, 'app.info', filter.app);
      const mine = new Set((await apps.list(caller)).map(({ app }) => app.name));
      const found = memory.deploys.filter(
        (deploy) => mine.has(deploy.app) && (!filter.app || deploy.app === filter.app),
      );
      const skip = filter.skip ?? 0;
      const chosen = found.reverse().slice(skip, skip + (filter.limit ?? found.length));
      return chosen.map((deploy) => ({ deploy, canRollback: false }));
    },
    async info(caller, id) {
      const deploy = memory.deploys.find((each) => each.id === id);
      const app = memory.records.get(deploy?.app ?? '');
      if (deploy === undefined || app === undefined || !may(caller, 'deploy.info', { app })) {
        throw new PlatformError('deploy.not_found', 'Deploy not found.');
      }
      return { deploy, log: 'built\n', canRollback: false, diff: '' };
    },
    async deploy() {
      throw new PlatformError('unsupported', 'Nothing can be built in memory.');
    },
    async rollback(caller, app) {
      memory.allowed(caller, 'app.rollback', app);
      throw new PlatformError('release.not_found', 'There are no releases in memory.');
    },
  };
}

/** What is tested over the real use cases (domain-api.ts): here the app is only looked up. */
function changesIn(
  memory: Memory,
): Pick<UseCases, 'scale' | 'startStop' | 'swap' | 'cnames' | 'appChanges' | 'appUpkeep'> {
  const refuse = (action: Action) => async (caller: Caller, app: unknown) => {
    memory.allowed(caller, action, String(app));
    throw new PlatformError('unsupported', 'Nothing can be changed like this in memory.');
  };
  return {
    scale: { add: refuse('unit.add'), remove: refuse('unit.remove') },
    startStop: { start: refuse('app.start'), stop: refuse('app.stop') },
    swap: { swap: refuse('app.swap') },
    cnames: { add: refuse('app.cname_add'), replace: refuse('app.cname_add'), remove: refuse('app.cname_remove') },
    appChanges: { change: refuse('app.update'), grant: refuse('app.grant'), revoke: refuse('app.revoke') },
    appUpkeep: {
      unlock: refuse('app.unlock'),
      republish: refuse('app.routes'),
      async metricEnvs(caller, app) {
        memory.allowed(caller, 'app.info', app);
        return {};
      },
    },
  };
}

export function createMemoryPlatform(): MemoryPlatform {
  const memory = new Memory();
  const { records, units, deploys, entries, listeners } = memory;
  const apps = appsIn(memory);
  const refuse = async (caller: Caller, app: string): Promise<never> => {
    memory.allowed(caller, 'app.deploy', app);
    throw new PlatformError('unsupported', 'Nothing can be built in memory.');
  };
  return {
    apps,
    env: envIn(memory),
    run: runIn(memory),
    unitReports: {
      register: refuse,
      report: refuse,
      known: async () => [],
      keep: refuse,
    },
    shells: {
      permitted: async (caller, app) => void memory.allowed(caller, 'app.shell', app),
      async open(caller, app) {
        memory.running(memory.allowed(caller, 'app.shell', app));
        throw new PlatformError('unsupported', 'There are no shells in memory.');
      },
    },
    ...changesIn(memory),
    logs: logsIn(memory),
    deploys: deploysIn(memory, apps),
    uploads: {
      archive: refuse,
      fetched: refuse,
      image: refuse,
      available: async (caller, app) => void memory.allowed(caller, 'app.deploy', app),
    },
    ...memoryAdministration(PLATFORM),
    records,
    units,
    get reserve() {
      return memory.reserve;
    },
    set reserve(check: (owner: string) => Promise<void>) {
      memory.reserve = check;
    },
    putEnv(app, variables) {
      const own = memory.envs.get(app) ?? new Map<string, EnvVar>();
      for (const variable of variables) own.set(variable.name, variable);
      memory.envs.set(app, own);
    },
    deployed(name) {
      const app = records.get(name);
      if (app === undefined) throw new Error(`no app ${name}`);
      records.set(name, { ...app, release: 1, rollout: 'r', deploys: app.deploys + 1 });
      units.set(name, [startedUnit(name)]);
      deploys.push(finishedDeploy(name, app.owner));
    },
    addEntry(app, message) {
      const unit = { unit: `${app}/0`, unitId: 'u', release: 1, source: 'web' };
      entries.push({ seq: entries.length + 1, at: new Date().toISOString(), app, message, ...unit });
      for (const listener of listeners) listener();
    },
  };
}

async function* followEntries(
  first: LogEntry[],
  all: () => LogEntry[],
  listeners: Set<() => void>,
  signal: AbortSignal,
): AsyncGenerator<LogEntry[]> {
  let seen = all().at(-1)?.seq ?? 0;
  yield first;
  while (!signal.aborted) {
    const fresh = all().filter((entry) => entry.seq > seen);
    seen = fresh.at(-1)?.seq ?? seen;
    if (fresh.length > 0) yield fresh;
    else await changed(listeners, signal);
  }
}

function changed(listeners: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      listeners.delete(done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    listeners.add(done);
    signal.addEventListener('abort', done);
  });
}

function checkVariable(name: unknown): void {
  if (typeof name === 'string' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return;
  throw new PlatformError('env.invalid', 'This is no name of a variable.');
}

function newApp(name: string, owner: string, team: string, description: string): App {
  return {
    name,
    platform: PLATFORM.name,
    owner,
    teamOwner: team,
    teams: [team],
    pool: 'default',
    plan: 'default',
    description,
    cname: [],
    createdAt: new Date().toISOString(),
    release: null,
    rollout: null,
    desired: 'running',
    stoppedProcesses: [],
    swappedWith: null,
    customData: null,
    deploys: 0,
    removing: false,
  };
}

function startedUnit(app: string): Unit {
  return {
    id: randomHex(12),
    app,
    index: 0,
    process: 'web',
    release: 1,
    rollout: 'r',
    state: 'started',
    address: { host: '127.0.0.1', port: 4000 },
    handle: null,
    exits: 0,
    lastExit: null,
    createdAt: new Date().toISOString(),
  };
}

function finishedDeploy(app: string, by: string): Deploy {
  return {
    id: timeOrderedId(),
    app,
    state: 'done',
    commit: 'c0ffee',
    origin: 'git',
    by,
    startedAt: '2024-05-06T07:08:09.123Z',
    finishedAt: '2024-05-06T07:08:11.123Z',
    durationMs: 2_000,
    release: 1,
    artifact: 'slug-1',
    cause: null,
    error: '',
    phases: {},
    failedRequests: 0,
    removedAt: null,
  };
}
