import { call } from '../api/call.ts';
import type { Deploy } from '../api/operations.ts';
import { viewer } from '../api/session.ts';
import { bytes, plural } from '../data/format.ts';
import { memoryByApp } from '../data/prometheus.ts';
import { isOver } from '../data/deploy-state.ts';
import { useResource } from '../data/resource.ts';
import { Card, Empty, Head, Loaded, Time } from '../parts/content.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { at, BASE } from '../routing/location.ts';

const MOST_HOLDERS = 50;
const MOST_APPS = 20;

/** How the platform itself is. */
export default function Health() {
  const health = useResource('health', async (signal) => {
    const [{ version }, check, deploys, apps] = await Promise.all([
      call('GET /info', { signal }),
      call('GET /healthcheck', { signal }),
      call('GET /deploys', { query: { limit: 100 }, signal }),
      call('GET /apps', { signal }),
    ]);
    return {
      version,
      check: String(check).trim(),
      going: deploys.filter(({ State }) => !isOver(State)),
      apps: apps.length,
      units: apps.reduce((sum, { Units }) => sum + Units.length, 0),
      dead: apps.filter(({ State }) => State === 'dead').map(({ Name }) => Name),
    };
  });
  return (
    <>
      <Head
        title="Health"
        beside={
          health.data.value !== undefined && (
            <Status state="well" label={health.data.value.check === 'WORKING' ? 'working' : health.data.value.check} />
          )
        }
      />
      <Card title="Platform">
        <Loaded from={health}>
          {({ version, going, apps, units, dead }) => (
            <dl class="facts">
              <dt>Version</dt>
              <dd>{version}</dd>
              <dt>Runs</dt>
              <dd>
                {plural(apps, 'app')}, {plural(units, 'unit')}
              </dd>
              <dt>Deploys at work</dt>
              <dd>{going.length === 0 ? 'none' : plural(going.length, 'deploy')}</dd>
              <dt>Apps that are dead</dt>
              <dd class="row tight">
                {dead.length === 0
                  ? 'none'
                  : dead.map((name) => (
                      <a key={name} href={BASE + at('apps', name)}>
                        {name}
                      </a>
                    ))}
              </dd>
            </dl>
          )}
        </Loaded>
      </Card>
      <Queue deploys={health.data.value?.going ?? []} />
      {viewer().isAdmin && <Memory />}
      {viewer().isAdmin && <Disk />}
    </>
  );
}

/** Deploys that go on, and what they wait for. */
function Queue({ deploys }: { deploys: readonly Deploy[] }) {
  if (deploys.length === 0) return null;
  return (
    <Card title="Queue" isPlain>
      <Table
        label="Deploys at work"
        columns={['App', 'State', 'Since', 'By']}
        rows={deploys.map((deploy) => ({
          key: deploy.ID,
          cells: [
            <a href={BASE + at('apps', deploy.App, 'deploys', deploy.ID)}>{deploy.App}</a>,
            <Status state={deploy.State} label={deploy.WaitsFor || deploy.State} />,
            <Time at={deploy.Timestamp} />,
            deploy.User,
          ],
        }))}
      />
    </Card>
  );
}

function Memory() {
  const memory = useResource('memory', async (signal) => memoryByApp(await call('GET /metrics', { signal })), 15_000);
  return (
    <Card title="Memory" isPlain>
      <Loaded from={memory}>
        {(apps) =>
          apps.length === 0 ? (
            <Empty title="No app runs" />
          ) : (
            <>
              <div class="body-like">
                <p>All apps together use {bytes(apps.reduce((sum, one) => sum + one.bytes, 0))}.</p>
              </div>
              <Table
                label="Memory by app"
                columns={['App', 'Memory of all units']}
                rows={apps.slice(0, MOST_APPS).map((one) => ({
                  key: one.app,
                  cells: [
                    one.app === '' ? 'others' : <a href={`${BASE}${at('apps', one.app, 'timeline')}`}>{one.app}</a>,
                    bytes(one.bytes),
                  ],
                }))}
              />
            </>
          )
        }
      </Loaded>
    </Card>
  );
}

function Disk() {
  const disk = useResource('disk', (signal) => call('GET /disk', { signal }), 30_000);
  return (
    <Card title="Disk" isPlain>
      <Loaded from={disk}>
        {({ free_bytes: free, total_bytes: total, reserve_bytes: reserve, holders }) => (
          <>
            <div class="body-like stack">
              <p>
                {total < 0
                  ? 'How full it is, is not known here.'
                  : `${bytes(free)} of ${bytes(total)} are free. Deploys are refused below ${bytes(reserve)}.`}
              </p>
              {total > 0 && (
                <meter
                  class="full"
                  min={0}
                  max={total}
                  value={total - free}
                  high={total * 0.8}
                  aria-label="Disk in use"
                />
              )}
            </div>
            <Table
              label="What holds the disk"
              columns={['What', 'App', 'Size']}
              rows={[...holders]
                .sort((one, other) => other.bytes - one.bytes)
                .slice(0, MOST_HOLDERS)
                .map((holder) => ({
                  key: `${holder.kind} ${holder.app} ${holder.name}`,
                  cells: [`${holder.kind} ${holder.name}`, holder.app, bytes(holder.bytes)],
                }))}
            />
          </>
        )}
      </Loaded>
    </Card>
  );
}
