/** Apps in memory: records without anything that runs, and a unit that says it does. */
import { demand } from '../../src/domain/access.ts';
import { type App, checkAppName, NEW_APP } from '../../src/domain/apps/app.ts';
import type { Apps } from '../../src/domain/apps/apps.ts';
import type { Unit } from '../../src/domain/units/unit.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import { randomHex } from '../../src/lib/ids.ts';
import type { Memory } from './memory-state.ts';

export const PLATFORM = {
  name: 'static',
  description: 'Files.',
  ready: true,
  tools: ['cat 9'],
  missing: [],
  isDisabled: false,
  isAdded: false,
};

export function appsIn(memory: Memory): Apps {
  return {
    async create(caller, input) {
      demand(caller, 'app.create');
      if (caller.kind !== 'user') throw new PlatformError('access.denied', 'Only a user can own apps.');
      const name = checkAppName(input.name, new Set());
      if (memory.records.has(name))
        throw new PlatformError('app.name_taken', `There is already an app called ${name}.`);
      if (input.platform !== PLATFORM.name) throw new PlatformError('platform.not_found', 'Invalid platform');
      const [team] = input.teamOwner === undefined ? caller.teams : [String(input.teamOwner)];
      if (team === undefined) throw new PlatformError('team.required', 'You belong to no team.');
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
      memory.allowed(caller, 'app.restart', name);
      if (!memory.units.has(name)) return say(`App ${name} has not been deployed yet, there is nothing to restart.`);
      say(`---- Restarting the app "${name}" ----`);
    },
  };
}

function newApp(name: string, owner: string, team: string, description: string): App {
  return {
    ...NEW_APP,
    name,
    platform: PLATFORM.name,
    owner,
    teamOwner: team,
    teams: [team],
    pool: 'default',
    plan: 'default',
    description,
    createdAt: new Date().toISOString(),
  };
}

export function startedUnit(app: string): Unit {
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
