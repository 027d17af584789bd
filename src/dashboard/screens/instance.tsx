import { call, perform } from '../api/call.ts';
import { useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Empty, Head, Loaded } from '../parts/content.tsx';
import { confirm } from '../parts/dialog.tsx';
import { Choice } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { runTask } from '../parts/tasks.tsx';
import { at, BASE, navigate } from '../routing/location.ts';
import type { Params } from '../routing/screens.ts';

export default function Instance({ params: { instance: name = '' } }: { params: Params }) {
  const params = { instance: name };
  const instance = useResource(`instance ${name}`, (signal) =>
    call('GET /services/instances/{instance}', { params, signal }),
  );
  const status = useResource(
    `status ${name}`,
    (signal) => call('GET /services/instances/{instance}/status', { params, signal }),
    15_000,
  );
  const changed = (): void => void instance.refresh();
  const unbind = async (app: string): Promise<void> => {
    const isSure = await confirm({
      title: `Unbind ${app} from ${name}?`,
      text: `Its variables go from ${app}, which restarts once.`,
      action: 'Unbind',
      isDangerous: true,
    });
    if (!isSure) return;
    await runTask(`Unbind ${app} from ${name}`, (said) =>
      perform('DELETE /services/instances/{instance}/{app}', said, { params: { instance: name, app }, body: {} }),
    );
    changed();
  };
  return (
    <>
      <Head
        title={name}
        crumbs={<a href={`${BASE}/services`}>Services</a>}
        beside={instance.data.value !== undefined && <Status state={instance.data.value.Status} />}
      >
        <ActButton
          work={() => call('DELETE /services/instances/{instance}', { params, query: {} } as never)}
          done={`${name} is removed.`}
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
            <Card title="Bound apps" isPlain actions={<Bind instance={name} bound={found.apps} done={changed} />}>
              {found.apps.length === 0 ? (
                <Empty title="No app uses it" />
              ) : (
                <Table
                  label="Bound apps"
                  columns={['App']}
                  rows={found.apps.map((app) => ({
                    key: app,
                    cells: [<a href={BASE + at('apps', app)}>{app}</a>],
                    actions: (
                      <button type="button" class="button little" onClick={() => void unbind(app)}>
                        Unbind <span class="unseen">{app}</span>
                      </button>
                    ),
                  }))}
                />
              )}
            </Card>
            <Card title="About">
              <dl class="facts">
                <dt>Service</dt>
                <dd>{found.servicename}</dd>
                <dt>Provider says</dt>
                <dd>{status.data.value ?? status.problem.value?.message ?? '…'}</dd>
                <dt>Plan</dt>
                <dd>{[found.PlanName, found.PlanDescription].filter(Boolean).join(': ') || 'default'}</dd>
                <dt>Teams</dt>
                <dd>{found.teams.join(', ')}</dd>
                {Object.entries(found.Info).flatMap(([label, value]) => [
                  <dt key={label}>{label}</dt>,
                  <dd key={`${label} value`}>{value}</dd>,
                ])}
              </dl>
            </Card>
          </>
        )}
      </Loaded>
    </>
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
