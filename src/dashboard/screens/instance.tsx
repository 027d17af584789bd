import { call, perform } from '../api/call.ts';
import type { AnswerOf } from '../api/operations.ts';
import { useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Empty, Head, Loaded } from '../parts/content.tsx';
import { Choice, Field } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { Restarts } from '../parts/restarts.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { TeamAccess } from '../parts/team-access.tsx';
import { at, BASE, navigate } from '../routing/location.ts';
import type { Params } from '../routing/screens.ts';

type ServiceInstance = AnswerOf<'GET /services/instances/{instance}'>;

export default function Instance({ params: { instance: name = '' } }: { params: Params }) {
  const params = { instance: name };
  const instance = useResource(`instance ${name}`, (signal) =>
    call('GET /services/instances/{instance}', { params, signal }),
  );
  const changed = (): void => void instance.refresh();
  return (
    <>
      <Head
        title={name}
        crumbs={<a href={`${BASE}/services`}>Services</a>}
        beside={instance.data.value !== undefined && <Status state={instance.data.value.Status} />}
      >
        {instance.data.value !== undefined && <Change instance={instance.data.value} changed={changed} />}
        <ActButton
          work={() => call('DELETE /services/instances/{instance}', { params, query: {} })}
          done={`${name} is removed.`}
          look="danger"
          question={{
            title: `Remove ${name}?`,
            text: 'The provider removes it with all that it holds.',
            action: 'Remove',
            typed: name,
            isDangerous: true,
          }}
          onDone={() => navigate('/services')}
        >
          Remove
        </ActButton>
      </Head>
      <Loaded from={instance}>
        {(found) => (
          <>
            <BoundApps name={name} apps={found.apps} changed={changed} />
            <TeamAccess
              teams={found.teams}
              owner={found.TeamOwner}
              loss="Its members do not see the instance any more. What is bound stays bound."
              give={(team) =>
                call('PUT /services/instances/permission/{instance}/{team}', { params: { ...params, team } })
              }
              take={(team) =>
                call('DELETE /services/instances/permission/{instance}/{team}', { params: { ...params, team } })
              }
              changed={changed}
            />
            <About instance={found} />
          </>
        )}
      </Loaded>
    </>
  );
}

function BoundApps({ name, apps, changed }: { name: string; apps: readonly string[]; changed: () => void }) {
  return (
    <Card title="Bound apps" isPlain actions={<Bind instance={name} bound={apps} done={changed} />}>
      {apps.length === 0 ? (
        <Empty title="No app uses it" />
      ) : (
        <Table
          label="Bound apps"
          columns={['App']}
          rows={apps.map((app) => ({
            key: app,
            cells: [<a href={BASE + at('apps', app)}>{app}</a>],
            actions: (
              <ActButton
                task={`Unbind ${app} from ${name}`}
                work={(said) =>
                  perform('DELETE /services/instances/{instance}/{app}', said, {
                    params: { instance: name, app },
                    body: {},
                  })
                }
                label={`Unbind ${app}`}
                question={{
                  title: `Unbind ${app} from ${name}?`,
                  text: (
                    <>
                      Its variables go from {app}. <Restarts app={app} />
                    </>
                  ),
                  action: 'Unbind',
                  isDangerous: true,
                }}
                onDone={changed}
              >
                Unbind
              </ActButton>
            ),
          }))}
        />
      )}
    </Card>
  );
}

function About({ instance: found }: { instance: ServiceInstance }) {
  const params = { instance: found.name };
  const status = useResource(
    `status ${found.name}`,
    (signal) => call('GET /services/instances/{instance}/status', { params, signal }),
    15_000,
  );
  return (
    <Card title="About">
      <dl class="facts">
        <dt>Service</dt>
        <dd>{found.servicename}</dd>
        <dt>Provider says</dt>
        <dd>{status.data.value ?? status.problem.value?.message ?? '…'}</dd>
        <dt>Plan</dt>
        <dd>
          {[found.PlanName, found.PlanDescription].filter(Boolean).join(': ') || 'default'}
          <span class="muted small"> (for another one, create another instance)</span>
        </dd>
        {found.Description !== '' && (
          <>
            <dt>Description</dt>
            <dd>{found.Description}</dd>
          </>
        )}
        {found.Tags.length > 0 && (
          <>
            <dt>Tags</dt>
            <dd>{found.Tags.join(', ')}</dd>
          </>
        )}
        {Object.entries(found.Info).flatMap(([label, value]) => [
          <dt key={label}>{label}</dt>,
          <dd key={`${label} value`}>{value}</dd>,
        ])}
      </dl>
    </Card>
  );
}

function Change({ instance, changed }: { instance: ServiceInstance; changed: () => void }) {
  const { name, servicename: service, Description, Tags, TeamOwner, teams } = instance;
  return (
    <FormDialog
      title="Change"
      action="Change"
      done={`${name} is changed.`}
      onDone={changed}
      onSubmit={({ description = '', tags = '', team = '' }) =>
        call('PUT /services/{service}/instances/{instance}', {
          params: { service, instance: name },
          body: { description, tags: tags.split(/[\s,]+/).filter(Boolean), teamowner: team },
        })
      }
    >
      <Field label="Description" name="description" value={Description} />
      <Field label="Tags" name="tags" value={Tags.join(' ')} help="Words to find it by." />
      <Choice
        label="Team that owns it"
        name="team"
        value={TeamOwner}
        options={[...new Set([TeamOwner, ...teams])].map((value) => ({ value, label: value }))}
      />
    </FormDialog>
  );
}

function Bind({ instance, bound, done }: { instance: string; bound: readonly string[]; done: () => unknown }) {
  const apps = useResource('apps to bind', (signal) => call('GET /apps', { signal }), 30_000);
  const free = (apps.data.value ?? []).map(({ Name }) => Name).filter((name) => !bound.includes(name));
  return (
    <FormDialog
      title="Bind an app"
      action="Bind"
      done="The app runs with its variables."
      onDone={done}
      onSubmit={({ app = '' }) =>
        call('PUT /services/instances/{instance}/{app}', { params: { instance, app }, body: {} })
      }
    >
      <Choice
        label="App"
        name="app"
        help="It restarts once, with the variables that the provider gives."
        options={free.map((value) => ({ value, label: value }))}
      />
    </FormDialog>
  );
}
