/** How something stands, as events show it: everything of it that may be shown. */
import { settingsIn } from '../alerts/alert-store.ts';
import type { StoreWriter } from '../store.ts';

/** By field; `shown` is free of secrets. */
export type Snapshot = ReadonlyMap<string, { readonly value: string; readonly shown: string }>;

export async function snapshotOf(tx: StoreWriter, target: string): Promise<Snapshot> {
  if (target === 'alerts') return open({ ...(await settingsIn(tx)) });
  const colon = target.indexOf(':');
  const [kind, name] = [target.slice(0, Math.max(0, colon)), target.slice(colon + 1)];
  const catalog = await catalogSnapshot(tx, kind, name);
  if (catalog !== null) return catalog;
  if (kind === 'app') return appSnapshot(tx, name);
  if (kind === 'team') {
    const team = await tx.team(name);
    return open(team === null ? {} : { members: [...team.members].sort() });
  }
  if (kind === 'user') {
    const user = await tx.user(name);
    return open(user === null ? {} : { admin: user.isAdmin, apps_limit: (await tx.userLimit(name)) ?? 'default' });
  }
  if (kind !== 'pool') return new Map();
  const pool = (await tx.pools()).find((one) => one.name === name);
  if (pool === undefined) return new Map();
  const { isPublic, teams, placement } = pool;
  return open({ public: isPublic, teams, ...(placement !== null && placement) });
}

async function appSnapshot(tx: StoreWriter, name: string): Promise<Snapshot> {
  const app = await tx.app(name);
  if (app === null) return new Map();
  const { platform, owner, teamOwner, teams, pool, plan, description, cname, links, release, desired } = app;
  const { stoppedProcesses, swappedWith, settings, edge, removing } = app;
  const fields = open({
    ...{ platform, owner, team_owner: teamOwner, teams, pool, plan, description, cname, links, release, desired },
    ...{ stopped_processes: stoppedProcesses, swapped_with: swappedWith, settings, edge, removing },
    units_limit: (await tx.appLimit(name)) ?? 'default',
    volumes: (await tx.volumes(name)).map((volume) => volume.name),
  });
  for (const variable of await tx.env(name)) {
    // Not even whether it is long is said of a private value.
    const shown = variable.public ? variable.value : '(private)';
    fields.set(`env.${variable.name}`, { value: `${variable.public}:${variable.value}`, shown });
  }
  return fields;
}

/** Of values that may be shown. */
function open(fields: Readonly<Record<string, unknown>>): Map<string, { value: string; shown: string }> {
  return new Map(
    Object.entries(fields).map(([field, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return [field, { value: text, shown: text }];
    }),
  );
}

/** Null: it is nothing of that kind. */
async function catalogSnapshot(tx: StoreWriter, kind: string, name: string): Promise<Snapshot | null> {
  switch (kind) {
    case 'plan': {
      const plan = await tx.plan(name);
      if (plan === null) return open({});
      const { memoryBytes, cpuMillis, cpuShare, diskBytes, isDefault } = plan;
      const limits = { memory_bytes: memoryBytes, cpu_millis: cpuMillis, cpu_share: cpuShare, disk_bytes: diskBytes };
      return open({ ...limits, default: isDefault });
    }
    case 'service': {
      const service = await tx.service(name);
      if (service === null) return open({});
      const { kind: protocol, url, username, password, ownerTeams, teams, isRestricted } = service;
      const doc = await tx.serviceDoc(name);
      const shown = open({ kind: protocol, url: hostOf(url), username, owner_teams: ownerTeams, teams, doc });
      return secret(shown, { restricted: isRestricted }, { address: url, password });
    }
    case 'instance': {
      const instance = await tx.instance(name);
      if (instance === null) return open({});
      const { service, teamOwner, teams, plan, description, tags, parameters, state } = instance;
      const shown = open({ service, team_owner: teamOwner, teams, plan, description, tags });
      return secret(shown, { state }, { parameters: JSON.stringify(parameters) });
    }
    case 'registry': {
      const logins = (await tx.registryLogins()).filter(({ host }) => host === name);
      const users = open(Object.fromEntries(logins.map(({ team, user }) => [teamOf(team), user])));
      return secret(
        users,
        {},
        Object.fromEntries(logins.map(({ team, password }) => [`${teamOf(team)} password`, password])),
      );
    }
    case 'certificate': {
      const found = (await tx.certificateSummaries()).find(({ names }) => names[0] === name);
      if (found === undefined) return open({});
      const { names, source, state, issuer, notBefore, notAfter } = found;
      return open({ names, source, state, issuer, not_before: notBefore, not_after: notAfter });
    }
    case 'platform': {
      const platform = await tx.platformRecord(name);
      return open(platform === null ? {} : { ...platform });
    }
    default:
      return null;
  }
}

function teamOf(team: string): string {
  return team === '' ? 'of all teams' : `of ${team}`;
}

/** Users, passwords and tokens may stand in the rest of it. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

/** Of what is secret it is shown that it is another one, and no more. */
function secret(
  shown: Map<string, { value: string; shown: string }>,
  more: Readonly<Record<string, unknown>>,
  hidden: Readonly<Record<string, string>>,
): Snapshot {
  for (const [field, one] of open(more)) shown.set(field, one);
  for (const [field, value] of Object.entries(hidden)) shown.set(field, { value, shown: '(private)' });
  return shown;
}
