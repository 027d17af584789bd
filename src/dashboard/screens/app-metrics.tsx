import { call } from '../api/call.ts';
import type { Deploy, Metrics } from '../api/operations.ts';
import { bytes } from '../data/format.ts';
import { useResource } from '../data/resource.ts';
import { Card, Empty, Loaded } from '../parts/content.tsx';
import { type Series, TimeChart } from '../parts/time-chart.tsx';
import { query, setQuery } from '../routing/location.ts';
import type { Params } from '../routing/screens.ts';
import { AppFrame, useApp } from './app-frame.tsx';

const SPANS: Readonly<Record<string, string>> = {
  '15m': '15 minutes',
  '1h': '1 hour',
  '2h': '2 hours',
  '24h': '1 day',
  '48h': '2 days',
};
const EVERY_MS = 10_000;

export default function AppMetrics({ params: { app: name = '' } }: { params: Params }) {
  const app = useApp(name);
  const asked = query.value.get('since') ?? '';
  const since = asked in SPANS ? asked : '1h';
  const metrics = useResource(
    `metrics ${name} ${since}`,
    (signal) => call('GET /apps/{app}/metrics', { params: { app: name }, query: { since }, signal }),
    EVERY_MS,
  );
  const deploys = useResource(`deploys ${name}`, (signal) =>
    call('GET /deploys', { query: { app: name, limit: 100 }, signal }),
  );
  return (
    <AppFrame app={app} name={name}>
      {() => (
        <>
          <label class="row">
            <span class="muted">The last</span>
            <select value={since} onChange={(event) => setQuery({ since: event.currentTarget.value })}>
              {Object.entries(SPANS).map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          </label>
          <Loaded from={metrics}>
            {(found) =>
              found.points.length < 2 ? (
                <div class="card">
                  <Empty title="Nothing was measured yet" icon="health">
                    <p>A running app is measured every ten seconds.</p>
                  </Empty>
                </div>
              ) : (
                <Charts metrics={found} deploys={deploys.data.value ?? []} />
              )
            }
          </Loaded>
        </>
      )}
    </AppFrame>
  );
}

type Point = Metrics['points'][number];

function Charts({ metrics: { points, stepSeconds }, deploys }: { metrics: Metrics; deploys: readonly Deploy[] }) {
  const times = points.map(({ at }) => Date.parse(at) / 1_000);
  const [from = 0] = times;
  const marks = [
    ...deploys.map(({ Timestamp, Release }) => ({
      at: Date.parse(Timestamp) / 1_000,
      label: Release > 0 ? `v${Release}` : 'failed',
    })),
    ...points
      .filter(({ restarts }) => restarts > 0)
      .map(({ at }) => ({ at: Date.parse(at) / 1_000, label: 'restart' })),
  ].filter(({ at }) => at >= from);
  const of = (label: string, color: Series['color'], value: (point: Point) => number): Series => ({
    label,
    color,
    values: points.map(value),
  });
  const perSecond = (count: number): number => count / stepSeconds;
  return (
    <>
      <Card title="Requests per second">
        <TimeChart
          title="Requests per second"
          times={times}
          marks={marks}
          series={[
            of('answered', 'good', ({ requests, failures }) => perSecond(requests - failures)),
            of('failed', 'bad', ({ failures }) => perSecond(failures)),
          ]}
          show={(value) => value.toFixed(value < 10 ? 1 : 0)}
        />
      </Card>
      <Card title="Memory">
        <TimeChart
          title="Memory"
          times={times}
          marks={marks}
          series={[of('all units', 'accent', ({ memoryBytes }) => memoryBytes)]}
          show={bytes}
        />
      </Card>
      <Card title="Processor">
        <TimeChart
          title="Processor"
          times={times}
          marks={marks}
          series={[of('all units', 'wait', ({ cpuMillis }) => cpuMillis / 10)]}
          show={(value) => `${value.toFixed(value < 10 ? 1 : 0)} %`}
        />
      </Card>
    </>
  );
}
