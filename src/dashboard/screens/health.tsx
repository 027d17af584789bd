import { call } from '../api/call.ts';
import type { AnswerOf, Deploy } from '../api/operations.ts';
import { viewer } from '../api/session.ts';
import { bytes, duration, plural } from '../data/format.ts';
import { memoryByApp } from '../data/prometheus.ts';
import { isOver } from '../data/deploy-state.ts';
import { useResource } from '../data/resource.ts';
import { Card, Empty, Head, Loaded, Time } from '../parts/content.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { at, BASE } from '../routing/location.ts';

type Report = AnswerOf<'GET /health'>;

const MOST_HOLDERS = 12;
const MOST_APPS = 20;
/** Of memory and disk; beyond it there may soon be too little. */
const FULL = 0.85;

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
      {viewer().isAdmin && (
        <>
          <Watched />
          <Machine />
          <Memory />
          <Disk />
        </>
      )}
    </>
  );
}

/** What is wrong, and whether what is here could be had back. */
function Watched() {
  const found = useResource('watched', async (signal) => {
    const [{ alerts }, backups] = await Promise.all([
      call('GET /alerts', { signal }),
      call('GET /backups', { signal }),
    ]);
    return { going: alerts.filter(({ state }) => state !== 'resolved'), backups };
  });
  return (
    <Card title="Alerts and backups">
      <Loaded from={found}>
        {({ going, backups: { directory, problem, succeeded_at: last } }) => (
          <dl class="facts">
            <dt>Alerts</dt>
            <dd class="row tight">
              {going.length > 0 && <Status state="firing" mood="bad" label={plural(going.length, 'alert')} />}
              <a href={`${BASE}/alerts`}>{going.length === 0 ? 'nothing is wrong' : 'what is wrong'}</a>
            </dd>
            <dt>Last backup</dt>
            <dd class="row tight">
              {problem !== '' && <Status state="failed" />}
              <a href={`${BASE}/backups`}>
                {directory === '' ? 'none are made' : last === '' ? 'none yet' : <Time at={last} />}
              </a>
            </dd>
          </dl>
        )}
      </Loaded>
    </Card>
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

/** What the platform runs on, and what it takes of it. */
function Machine() {
  const report = useResource('machine', (signal) => call('GET /health', { signal }), 10_000);
  return (
    <>
      <Card title="Machine">
        <Loaded from={report}>{(found) => <MachineFacts report={found} />}</Loaded>
      </Card>
      {report.data.value !== undefined && <Processes processes={report.data.value.processes} />}
    </>
  );
}

/** Bytes. */
function Fullness({ label, total, free }: { label: string; total: number; free: number }) {
  return <meter class="full" min={0} max={total} value={total - free} high={total * FULL} aria-label={label} />;
}

function MachineFacts({ report: { programs, machine, deploys, build_slots: slots } }: { report: Report }) {
  const { memory_total_bytes: total, memory_available_bytes: free, load, processors } = machine;
  return (
    <dl class="facts">
      <dt>Memory</dt>
      <dd class="stack dense">
        {bytes(free)} of {bytes(total)} are free
        <Fullness label="Memory of the machine in use" total={total} free={free} />
      </dd>
      <dt>Load</dt>
      <dd>
        {load.map((each) => each.toFixed(2)).join(', ')} on {plural(processors, 'processor')}
      </dd>
      <dt>Deploys</dt>
      <dd>
        {deploys.length === 0 ? 'none waits' : deploys.map(({ state, count }) => `${count} ${state}`).join(', ')};{' '}
        {plural(slots, 'build')} at once at most
      </dd>
      {programs.flatMap(({ name, version }) => [
        <dt key={name}>{name}</dt>,
        <dd key={`${name} version`}>{version || 'does not say'}</dd>,
      ])}
    </dl>
  );
}

function Processes({ processes }: { processes: Report['processes'] }) {
  return (
    <Card title="Processes of the platform" isPlain>
      <Table
        label="Processes of the platform"
        columns={['Process', 'Number', 'Memory', 'Processor time', 'Runs since']}
        rows={processes.map((one) => ({
          key: String(one.pid),
          cells: [
            one.part,
            String(one.pid),
            bytes(one.memory_bytes),
            duration(one.cpu_ms * 1e6),
            <Time at={one.started_at} />,
          ],
        }))}
      />
    </Card>
  );
}

function Memory() {
  const memory = useResource('memory', async (signal) => memoryByApp(await call('GET /metrics', { signal })), 15_000);
  return (
    <Card title="Memory of apps" isPlain>
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
              {total > 0 && <Fullness label="Disk in use" total={total} free={free} />}
            </div>
            <Table
              label="What holds the disk"
              columns={['What', 'App', 'Size']}
              rows={holders.slice(0, MOST_HOLDERS).map((holder) => ({
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
