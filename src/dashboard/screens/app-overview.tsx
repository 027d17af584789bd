import { call, perform } from '../api/call.ts';
import type { App, Deploy, Unit } from '../api/operations.ts';
import { appUrl, isWebUrl } from '../data/app-url.ts';
import { originOf } from '../data/deploy-state.ts';
import { duration, plural } from '../data/format.ts';
import { type Resource, USUALLY_MS, useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Empty, Loaded, Time } from '../parts/content.tsx';
import { Icon } from '../parts/icon.tsx';
import { Status } from '../parts/status.tsx';
import type { Params } from '../routing/screens.ts';
import { BASE, at } from '../routing/location.ts';
import { AppFrame, useApp } from './app-frame.tsx';
import { AppVitals } from './app-vitals.tsx';
import { Broken } from './broken.tsx';
import { FirstPush } from './first-push.tsx';

/** For the first push: somebody waits for it. */
const AWAITED_MS = 1_000;

export default function AppOverview({ params: { app: name = '' } }: { params: Params }) {
  const app = useApp(name);
  const isNew = app.data.value?.State === 'created';
  const deploys = useResource(
    `deploys ${name}`,
    (signal) => call('GET /deploys', { query: { app: name, limit: 5 }, signal }),
    isNew ? AWAITED_MS : USUALLY_MS,
  );
  return (
    <AppFrame app={app} name={name}>
      {(value) =>
        value.State === 'created' ? (
          <FirstPush app={value} deploys={deploys.data.value ?? []} />
        ) : (
          <>
            {value.State !== 'stopped' && <Why name={name} />}
            {value.State !== 'stopped' && <AppVitals name={name} />}
            <div class="two">
              <div class="stack loose">
                <Processes app={value} changed={() => void app.refresh()} />
                <LastDeploys name={name} from={deploys} />
              </div>
              <Facts app={value} />
            </div>
          </>
        )
      }
    </AppFrame>
  );
}

function Why({ name }: { name: string }) {
  const diagnosis = useResource(
    `why ${name}`,
    (signal) => call('GET /apps/{app}/diagnosis', { params: { app: name }, signal }),
    10_000,
  );
  const found = diagnosis.data.value;
  if (found === undefined || found.broken === null || found.well) return null;
  return <Broken diagnosis={found} broken={found.broken} name={name} />;
}

function Processes({ app, changed }: { app: App; changed: () => void }) {
  const byProcess = Map.groupBy(app.Units, ({ ProcessName }) => ProcessName);
  for (const [process, count] of Object.entries(app.settings?.counts ?? {}))
    if (count === 0 && !byProcess.has(process)) byProcess.set(process, []);
  return (
    <Card title="Processes and units" isPlain>
      {byProcess.size === 0 ? (
        <Empty title={app.State === 'stopped' ? 'The app is stopped' : 'Nothing runs'} icon="stop" />
      ) : (
        [...byProcess].map(([process, units]) => (
          <Process key={process} app={app.Name} process={process} units={units} changed={changed} />
        ))
      )}
    </Card>
  );
}

interface ProcessProps {
  readonly app: string;
  readonly process: string;
  readonly units: readonly Unit[];
  readonly changed: () => void;
}

function Process({ app, process, units, changed }: ProcessProps) {
  const scale = (label: string, count: number, sign: string) => (
    <ActButton
      task={`${process}: ${plural(count, 'unit')}`}
      work={(said) =>
        perform('PUT /apps/{app}/processes/{process}/units', said, { params: { app, process }, body: String(count) })
      }
      label={label}
      isDisabled={count < 0}
      onDone={changed}
    >
      {sign}
    </ActButton>
  );
  return (
    <div class="process">
      <div class="row between">
        <h3>{process}</h3>
        <div class="row tight" role="group" aria-label={`Units of ${process}`}>
          {scale(`One ${process} unit less`, units.length - 1, '−')}
          <span class="count">{units.length}</span>
          {scale(`One ${process} unit more`, units.length + 1, '+')}
        </div>
      </div>
      <ul class="unit-list">
        {units.map((unit) => (
          <li key={unit.ID}>
            <Status state={unit.State} />
            <span class="mono break">{unit.Name}</span>
            <a class="small" href={`${BASE}${at('apps', app, 'log')}?unit=${encodeURIComponent(unit.Name)}`}>
              Log
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Facts({ app }: { app: App }) {
  const addresses = [...(app.cname ?? []), app.Ip].filter((address) => address !== '');
  return (
    <Card title="About">
      <dl class="facts">
        <dt>{addresses.length + Object.keys(app.processUrls ?? {}).length === 1 ? 'Address' : 'Addresses'}</dt>
        <dd class="stack dense">
          {addresses.map((address) => (
            <a key={address} href={appUrl(app, address)} target="_blank" rel="noreferrer">
              {address}
            </a>
          ))}
          {Object.entries(app.processUrls ?? {})
            .filter(([, url]) => isWebUrl(url))
            .map(([process, url]) => (
              <a key={process} href={url} target="_blank" rel="noreferrer">
                {url.replace(/^https?:\/\//, '')}
              </a>
            ))}
        </dd>
        {app.description !== '' && (
          <>
            <dt>Description</dt>
            <dd>{app.description}</dd>
          </>
        )}
        <dt>Platform</dt>
        <dd>{app.Platform}</dd>
        <dt>Team</dt>
        <dd>{[...new Set([app.teamowner, ...app.Teams])].filter(Boolean).join(', ')}</dd>
        <dt>Owner</dt>
        <dd>{app.owner}</dd>
        <dt>Pool</dt>
        <dd>{app.Pool}</dd>
        {app.plan !== undefined && (
          <>
            <dt>Plan</dt>
            <dd>{app.plan.name}</dd>
          </>
        )}
        <dt>Repository</dt>
        <dd class="mono">{app.Repository}</dd>
      </dl>
    </Card>
  );
}

function LastDeploys({ name, from }: { name: string; from: Resource<readonly Deploy[]> }) {
  return (
    <Card title="Last deploys" actions={<a href={BASE + at('apps', name, 'deploys')}>All</a>}>
      <Loaded from={from}>
        {(deploys) => (
          <ul class="stack">
            {deploys.map((deploy) => (
              <li key={deploy.ID} class="row between">
                <span class="stack dense">
                  <a href={BASE + at('apps', name, 'deploys', deploy.ID)}>
                    {deploy.Release > 0 ? `v${deploy.Release}` : 'Deploy'} · {originOf(deploy.Origin)}
                  </a>
                  <span class="muted small">
                    <Time at={deploy.Timestamp} /> by {deploy.User}, {duration(deploy.Duration)}
                  </span>
                </span>
                <Status
                  state={deploy.State}
                  label={deploy.State === 'failed' ? deploy.Cause.replaceAll('_', ' ') || 'failed' : deploy.State}
                />
              </li>
            ))}
            {deploys.length === 0 && (
              <li class="muted">
                <Icon name="info" /> None yet
              </li>
            )}
          </ul>
        )}
      </Loaded>
    </Card>
  );
}
