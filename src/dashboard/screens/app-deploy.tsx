import { useEffect, useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import type { App, DeployDetail } from '../api/operations.ts';
import { appUrl } from '../data/app-url.ts';
import { isOver, moodOfDeploy, originOf, outcomeOf, STEPS } from '../data/deploy-state.ts';
import { duration, plural } from '../data/format.ts';
import { logAt } from '../data/happenings.ts';
import { useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Loaded, Note, Time } from '../parts/content.tsx';
import { Status } from '../parts/status.tsx';
import { Transcript } from '../parts/transcript.tsx';
import { at, BASE } from '../routing/location.ts';
import type { Params } from '../routing/screens.ts';
import { AppFrame, useApp } from './app-frame.tsx';
import { RollBack } from './roll-back.tsx';

const LIVE_MS = 700;
const OVER_MS = 15_000;
/** Of the log after the end of a deploy. */
const AFTER_MS = 10_000;

export default function AppDeploy({ params: { app: name = '', deploy: id = '' } }: { params: Params }) {
  const app = useApp(name);
  const [everyMs, setEveryMs] = useState(LIVE_MS);
  const deploy = useResource(
    `deploy ${id}`,
    async (signal) => {
      const found = await call('GET /deploys/{deploy}', { params: { deploy: id }, signal });
      setEveryMs(isOver(found.State) ? OVER_MS : LIVE_MS);
      return found;
    },
    everyMs,
  );
  // What the deploy has made of the app is shown with it.
  const state = deploy.data.value?.State;
  useEffect(() => {
    if (state !== undefined && isOver(state)) void app.refresh();
  }, [state]);
  return (
    <AppFrame app={app} name={name}>
      {(value) => (
        <Loaded from={deploy}>
          {(found) => <Detail deploy={found} app={value} changed={() => void deploy.refresh()} />}
        </Loaded>
      )}
    </AppFrame>
  );
}

function Detail({ deploy, app, changed }: { deploy: DeployDetail; app: App; changed: () => void }) {
  const name = deploy.Release > 0 ? `v${deploy.Release}` : 'Deploy';
  return (
    <>
      <div class="row between">
        <div class="row">
          <h2>
            <a href={BASE + at('apps', deploy.App, 'deploys')}>Deploys</a> / {name}
          </h2>
          <Status state={deploy.State} label={outcomeOf(deploy)} mood={moodOfDeploy(deploy.State)} />
        </div>
        <div class="row">
          {!isOver(deploy.State) && <Cancel deploy={deploy} changed={changed} />}
          <RollBack deploy={deploy} done={changed} />
        </div>
      </div>
      {deploy.State !== 'failed' && deploy.State !== 'cancelled' && (
        <Steps state={deploy.State} waitsFor={deploy.WaitsFor} />
      )}
      {deploy.State === 'failed' && (
        <Note mood="bad">
          <strong>Failed: {outcomeOf(deploy)}</strong>
          <span class="break">{deploy.Error}</span>
          <span>What served before goes on serving.</span>
          <a href={BASE + logOf(deploy)}>The log of the app from then</a>
        </Note>
      )}
      {deploy.State === 'done' && (
        <Note mood="good">
          <span>
            {name} serves at{' '}
            <a href={appUrl(app)} target="_blank" rel="noreferrer">
              {app.Ip}
            </a>
            .{' '}
            {deploy.FailedRequests > 0
              ? `${plural(deploy.FailedRequests, 'request')} failed during the switch.`
              : 'No request failed during the switch.'}
          </span>
        </Note>
      )}
      <Warned deploy={deploy} />
      <Transcript text={deploy.Log} label="What the deploy said" />
      <Card title="About this deploy">
        <dl class="facts">
          <dt>Begun</dt>
          <dd>
            <Time at={deploy.Timestamp} />
          </dd>
          <dt>By</dt>
          <dd>{deploy.User}</dd>
          <dt>From</dt>
          <dd>{originOf(deploy.Origin)}</dd>
          {deploy.Commit !== '' && (
            <>
              <dt>Commit</dt>
              <dd class="mono">{deploy.Commit}</dd>
            </>
          )}
          <dt>Took</dt>
          <dd>{duration(deploy.Duration)}</dd>
          <dt>Log</dt>
          <dd>
            <a href={`${BASE}${at('apps', deploy.App, 'log')}?deploy=${encodeURIComponent(deploy.ID)}`}>
              What its units printed
            </a>
          </dd>
        </dl>
      </Card>
      {deploy.Diff.trim() !== '' && (
        <details class="card">
          <summary>Changes in the code</summary>
          <Diff text={deploy.Diff} />
        </details>
      )}
    </>
  );
}

function logOf({ App, Timestamp, Duration }: DeployDetail): string {
  const fromMs = Date.parse(Timestamp);
  return logAt(App, { fromMs, toMs: fromMs + Duration / 1e6 + AFTER_MS });
}

function Warned({ deploy: { Warning, App } }: { deploy: DeployDetail }) {
  if (Warning === '') return null;
  return (
    <Note mood="wait">
      <strong>{Warning}</strong>
      <a href={`${BASE}${at('apps', App, 'log')}`}>The log of the app</a>
    </Note>
  );
}

function Steps({ state, waitsFor }: { state: string; waitsFor: string }) {
  const reached = STEPS.findIndex((step) => step === state);
  return (
    <ol class="way" aria-label="Steps of the deploy">
      {STEPS.map((step, index) => {
        const kind = index < reached || state === 'done' ? 'done' : index === reached ? 'now' : '';
        return (
          <li key={step} class={kind} {...(kind === 'now' && { 'aria-current': 'step' })}>
            {step}
            {kind === 'now' && waitsFor !== '' && <span class="small"> ({waitsFor})</span>}
          </li>
        );
      })}
    </ol>
  );
}

function Cancel({ deploy, changed }: { deploy: DeployDetail; changed: () => void }) {
  const input = { params: { app: deploy.App }, query: { deploy: deploy.ID }, body: {} };
  return (
    <ActButton
      work={() => call('POST /apps/{app}/deploy/cancel', input)}
      done="The deploy was cancelled."
      look="danger"
      question={{
        title: 'Cancel this deploy?',
        text: 'What serves now goes on serving.',
        action: 'Cancel the deploy',
        isDangerous: true,
      }}
      onDone={changed}
    >
      Cancel
    </ActButton>
  );
}

function Diff({ text }: { text: string }) {
  return (
    <pre class="output tall" tabIndex={0} aria-label="Changes">
      {text.split('\n').map((line) => (
        <span
          class={line.startsWith('+') ? 'added' : line.startsWith('-') ? 'failed' : line.startsWith('@@') ? 'step' : ''}
        >{`${line}\n`}</span>
      ))}
    </pre>
  );
}
