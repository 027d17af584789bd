import { useMemo } from 'preact/hooks';
import { call } from '../api/call.ts';
import type { AppSummary, Deploy } from '../api/operations.ts';
import { originOf } from '../data/deploy-state.ts';
import { plural } from '../data/format.ts';
import { useResource } from '../data/resource.ts';
import { Empty, Head, Loaded, Time } from '../parts/content.tsx';
import { Icon } from '../parts/icon.tsx';
import { Status } from '../parts/status.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { at, BASE, query, setQuery } from '../routing/location.ts';

const ROW = 68;
const NEWEST_DEPLOYS = 500;
const STATES = ['started', 'starting', 'stopped', 'dead', 'created'];

export default function Apps() {
  const apps = useResource('apps', (signal) => call('GET /apps', { signal }));
  const deploys = useResource('deploys', (signal) =>
    call('GET /deploys', { query: { limit: NEWEST_DEPLOYS }, signal }),
  );
  return (
    <>
      <Head title="Apps">
        <a class="button main" href={`${BASE}/new`}>
          <Icon name="plus" /> New app
        </a>
      </Head>
      <Loaded from={apps}>
        {(list) => (list.length === 0 ? <None /> : <List apps={list} deploys={deploys.data.value ?? []} />)}
      </Loaded>
    </>
  );
}

function None() {
  return (
    <div class="card">
      <Empty title="No app yet" icon="apps">
        <p>Create one, then push code to it, or drop a folder onto its page.</p>
        <a class="button main" href={`${BASE}/new`}>
          Create your first app
        </a>
      </Empty>
    </div>
  );
}

function List({ apps, deploys }: { apps: readonly AppSummary[]; deploys: readonly Deploy[] }) {
  const wanted = query.value.get('q') ?? '';
  const state = query.value.get('state') ?? '';
  const found = useMemo(() => select(apps, wanted, state), [apps, wanted, state]);
  const newest = useMemo(() => newestOf(deploys), [deploys]);
  const counts = Map.groupBy(apps, ({ State }) => State);
  return (
    <>
      <div class="row" role="search">
        <label class="grow">
          <span class="unseen">Search apps</span>
          <input
            type="search"
            id="search"
            placeholder="Search by name, team, platform or address"
            value={wanted}
            onInput={(event) => setQuery({ q: event.currentTarget.value })}
          />
        </label>
        <label>
          <span class="unseen">State</span>
          <select value={state} onChange={(event) => setQuery({ state: event.currentTarget.value })}>
            <option value="">All states ({apps.length})</option>
            {STATES.map((one) => (
              <option key={one} value={one}>
                {one} ({counts.get(one)?.length ?? 0})
              </option>
            ))}
          </select>
        </label>
      </div>
      <section class="card" aria-label="Apps">
        {found.length === 0 ? (
          <Empty title="No app is like that" icon="search">
            <button type="button" class="button" onClick={() => setQuery({ q: '', state: '' })}>
              Show all
            </button>
          </Empty>
        ) : (
          <VirtualList
            label={plural(found.length, 'app')}
            rows={found}
            rowHeight={ROW}
            keyOf={({ Name }) => Name}
            render={(app) => <Row app={app} deploy={newest.get(app.Name)} />}
          />
        )}
      </section>
      <p class="muted small" role="status">
        {found.length === apps.length ? plural(apps.length, 'app') : `${found.length} of ${plural(apps.length, 'app')}`}
      </p>
    </>
  );
}

function Row({ app, deploy }: { app: AppSummary; deploy: Deploy | undefined }) {
  const started = app.Units.filter(({ State }) => State === 'started').length;
  return (
    <a class="app-row" href={BASE + at('apps', app.Name)}>
      <span class="stack dense name">
        <strong>{app.Name}</strong>
        <span class="muted small">{app.cname?.[0] ?? app.Ip}</span>
      </span>
      <span>
        <Status state={app.State} />
      </span>
      <span class="muted small units">
        {app.Units.length === 0 ? 'no units' : `${started} of ${plural(app.Units.length, 'unit')}`}
      </span>
      <span class="small last">
        {deploy === undefined ? <span class="muted">not deployed</span> : <LastDeploy deploy={deploy} />}
      </span>
    </a>
  );
}

function LastDeploy({ deploy }: { deploy: Deploy }) {
  return (
    <span class="stack dense">
      <span>
        {deploy.Release > 0 && `v${deploy.Release} `}
        <Time at={deploy.Timestamp} />
      </span>
      <span class={deploy.State === 'failed' ? 'bad-text' : 'muted'}>
        {deploy.State === 'failed'
          ? `failed: ${deploy.Cause.replaceAll('_', ' ')}`
          : `${deploy.State === 'done' ? originOf(deploy.Origin) : deploy.State} by ${deploy.User}`}
      </span>
    </span>
  );
}

function select(apps: readonly AppSummary[], wanted: string, state: string): AppSummary[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  return apps.filter((app) => {
    if (state !== '' && app.State !== state) return false;
    const text = [app.Name, app.Ip, app.Platform, app.teamowner, ...app.Teams, ...(app.cname ?? [])]
      .join(' ')
      .toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Deploys come newest first. */
function newestOf(deploys: readonly Deploy[]): Map<string, Deploy> {
  const found = new Map<string, Deploy>();
  for (const deploy of deploys) if (!found.has(deploy.App)) found.set(deploy.App, deploy);
  return found;
}
