import { begin, call } from '../api/call.ts';
import type { Deploy } from '../api/operations.ts';
import { moodOfDeploy, originOf, outcomeOf } from '../data/deploy-state.ts';
import { duration } from '../data/format.ts';
import { OFTEN_MS, useResource } from '../data/resource.ts';
import { Card, Empty, Loaded, Time } from '../parts/content.tsx';
import { DropZone } from '../parts/drop-zone.tsx';
import { Field } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { Status } from '../parts/status.tsx';
import { runTask } from '../parts/tasks.tsx';
import { at, BASE } from '../routing/location.ts';
import type { Params } from '../routing/screens.ts';
import { AppFrame, useApp } from './app-frame.tsx';
import { RollBack } from './roll-back.tsx';

const NEWEST = 100;

export default function AppDeploys({ params: { app: name = '' } }: { params: Params }) {
  const app = useApp(name);
  const deploys = useResource(
    `deploys ${name}`,
    (signal) => call('GET /deploys', { query: { app: name, limit: NEWEST }, signal }),
    OFTEN_MS,
  );
  return (
    <AppFrame app={app} name={name}>
      {() => (
        <>
          <DropZone app={name} />
          <Card title="Deploys" isPlain actions={<DeployImage app={name} changed={() => void deploys.refresh()} />}>
            <Loaded from={deploys}>
              {(list) =>
                list.length === 0 ? (
                  <Empty title="Nothing was deployed yet" icon="deploys" />
                ) : (
                  <DeployTable deploys={list} changed={() => void deploys.refresh()} />
                )
              }
            </Loaded>
          </Card>
        </>
      )}
    </AppFrame>
  );
}

function DeployImage({ app, changed }: { app: string; changed: () => void }) {
  const deploy = async ({ image = '' }: Record<string, string>): Promise<void> => {
    const body = new FormData();
    body.set('image', image.trim());
    const work = await begin('POST /apps/{app}/deploy', { params: { app }, query: { origin: 'image' }, body });
    void runTask(`Deploy ${image.trim()} to ${app}`, work).then(changed);
  };
  return (
    <FormDialog title="Deploy an image" action="Deploy" done="" onDone={changed} onSubmit={deploy}>
      <Field
        label="Image"
        name="image"
        class="mono"
        required
        placeholder="registry.example.com/team/shop:1.2"
        help="From a registry; where it asks for a login, one has to be kept for it."
      />
    </FormDialog>
  );
}

interface DeployTableProps {
  readonly deploys: readonly Deploy[];
  readonly withApp?: boolean;
  readonly changed: () => void;
}

export function DeployTable({ deploys, withApp = false, changed }: DeployTableProps) {
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label="Table of deploys">
      <table>
        <thead>
          <tr>
            {withApp && <th>App</th>}
            <th>Version</th>
            <th>Outcome</th>
            <th>Begun</th>
            <th>By</th>
            <th>From</th>
            <th>Took</th>
            <th>
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {deploys.map((deploy) => (
            <tr key={deploy.ID}>
              {withApp && (
                <td>
                  <a href={BASE + at('apps', deploy.App)}>{deploy.App}</a>
                </td>
              )}
              <th scope="row">
                <a href={BASE + at('apps', deploy.App, 'deploys', deploy.ID)}>
                  {deploy.Release > 0 ? `v${deploy.Release}` : deploy.ID.slice(0, 8)}
                </a>
                {deploy.Commit !== '' && <span class="muted mono small"> {deploy.Commit.slice(0, 8)}</span>}
              </th>
              <td>
                <Status
                  state={deploy.State}
                  label={deploy.WaitsFor === '' ? outcomeOf(deploy) : deploy.WaitsFor}
                  mood={moodOfDeploy(deploy.State)}
                />
              </td>
              <td>
                <Time at={deploy.Timestamp} />
              </td>
              <td class="break">{deploy.User}</td>
              <td>{originOf(deploy.Origin)}</td>
              <td>{duration(deploy.Duration)}</td>
              <td class="right actions">
                <RollBack deploy={deploy} done={changed} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
