import { begin, call, perform } from '../api/call.ts';
import type { App } from '../api/operations.ts';
import { bytes } from '../data/format.ts';
import { useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Loaded, Note } from '../parts/content.tsx';
import { Choice, Field, Form } from '../parts/form.tsx';
import { TeamAccess } from '../parts/team-access.tsx';
import { runTask } from '../parts/tasks.tsx';
import { notify } from '../parts/toasts.tsx';
import { BASE, navigate } from '../routing/location.ts';
import type { Params } from '../routing/screens.ts';
import { AppFrame, useApp } from './app-frame.tsx';
import { AppDomains } from './app-domains.tsx';
import { AppEdge } from './app-edge.tsx';
import { AppLinks } from './app-links.tsx';
import { AppQuota } from './app-quota.tsx';
import { AppVolumes } from './app-volumes.tsx';
import { AppTokens } from './app-tokens.tsx';

export default function AppSettings({ params: { app: name = '' } }: { params: Params }) {
  const app = useApp(name);
  const changed = (): void => void app.refresh();
  return (
    <AppFrame app={app} name={name}>
      {(value) => (
        <>
          <AppDomains app={value} changed={changed} />
          <About app={value} changed={() => app.refresh()} />
          <TeamAccess
            teams={value.Teams}
            owner={value.teamowner}
            loss="Its members do not see the app any more."
            give={(team) => call('PUT /apps/{app}/teams/{team}', { params: { app: name, team } })}
            take={(team) => call('DELETE /apps/{app}/teams/{team}', { params: { app: name, team } })}
            changed={changed}
          />
          <AppEdge app={value} />
          <AppVolumes app={value} />
          <AppLinks app={value} changed={changed} />
          <AppDrains app={name} />
          <AppTokens app={name} />
          <AppQuota app={name} />
          <Danger app={value} />
        </>
      )}
    </AppFrame>
  );
}

function About({ app, changed }: { app: App; changed: () => Promise<void> }) {
  const found = useResource('settings choices', async (signal) => {
    const [teams, pools, plans] = await Promise.all([
      call('GET /teams', { signal }),
      call('GET /1.0/pools', { signal }),
      call('GET /plans', { signal }),
    ]);
    return {
      teams: teams.map(({ name }) => name),
      pools: pools.map(({ Name }) => Name),
      plans: plans.map(({ name }) => name),
    };
  });
  const save = async ({ description = '', team = '', pool = '', plan = '' }: Record<string, string>): Promise<void> => {
    const params = { app: app.Name };
    await call('PUT /apps/{app}', { params, body: { description, teamOwner: team, pool } });
    if (plan !== (app.plan?.name ?? '')) {
      const work = await begin('POST /apps/{app}/plan', { params, body: { plan } });
      void runTask(`Plan ${plan} for ${app.Name}`, work).then(changed);
    }
    await changed();
    notify('Saved.');
  };
  const options = (values: readonly string[], now: string) =>
    [...new Set([now, ...values])].map((value) => ({ value, label: value }));
  return (
    <Card title="About">
      <Loaded from={found}>
        {({ teams, pools, plans }) => (
          <Form action="Save" onSubmit={save} isLasting>
            <Field label="Description" name="description" value={app.description} />
            <Choice
              label="Team that owns it"
              name="team"
              value={app.teamowner}
              options={options(teams, app.teamowner)}
            />
            <Choice
              label="Pool"
              name="pool"
              value={app.Pool}
              options={options(pools, app.Pool)}
              help="Another pool moves the app there, which restarts it once."
            />
            <Choice
              label="Plan"
              name="plan"
              value={app.plan?.name ?? ''}
              options={options(plans, app.plan?.name ?? '')}
              help="Another plan restarts the app once."
            />
          </Form>
        )}
      </Loaded>
    </Card>
  );
}

function AppDrains({ app }: { app: string }) {
  const drains = useResource(`drains ${app}`, (signal) => call('GET /drains', { query: { app }, signal }), 15_000);
  return (
    <Card title="Drains" actions={<a href={`${BASE}/drains?app=${encodeURIComponent(app)}`}>Manage</a>}>
      <Loaded from={drains}>
        {(list) => (
          <p class="muted">
            {list.length === 0
              ? 'Its log is sent nowhere else.'
              : `Its log is sent on to ${list.map(({ receiver }) => receiver).join(', ')}.`}
          </p>
        )}
      </Loaded>
    </Card>
  );
}

function Losses({ app }: { app: string }) {
  const volumes = useResource(`volumes ${app}`, (signal) =>
    call('GET /apps/{app}/volumes', { params: { app }, signal }),
  );
  return (
    <div class="stack">
      <p>
        Its units, its code with all versions, its environment and its log are removed for good. Instances of services
        it is bound to stay.
      </p>
      <Loaded from={volumes}>
        {(list) =>
          list.length > 0 && (
            <Note mood="bad">
              So are its volumes with all that they hold:{' '}
              {list.map(({ name, bytes: held }) => (held < 0 ? name : `${name} (${bytes(held)})`)).join(', ')}.
            </Note>
          )
        }
      </Loaded>
    </div>
  );
}

function Danger({ app }: { app: App }) {
  return (
    <Card title="Remove the app">
      <div class="row between">
        <p class="muted">This cannot be undone.</p>
        <ActButton
          task={`Remove ${app.Name}`}
          work={(said) => perform('DELETE /apps/{app}', said, { params: { app: app.Name } })}
          look="danger"
          question={{
            title: `Remove ${app.Name}?`,
            text: <Losses app={app.Name} />,
            action: 'Remove the app',
            typed: app.Name,
            isDangerous: true,
          }}
          onDone={() => navigate('/')}
        >
          Remove {app.Name}
        </ActButton>
      </div>
    </Card>
  );
}
