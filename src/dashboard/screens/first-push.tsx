/** How the first code comes to an app, with the viewer's own key, the app's own address, and the push itself as it arrives. */
import { call } from '../api/call.ts';
import type { App, Deploy } from '../api/operations.ts';
import { useResource } from '../data/resource.ts';
import { Card, Copyable, Loaded, Time } from '../parts/content.tsx';
import { DropZone } from '../parts/drop-zone.tsx';
import { Area, Form } from '../parts/form.tsx';
import { Status } from '../parts/status.tsx';
import { notify } from '../parts/toasts.tsx';
import { at, BASE } from '../routing/location.ts';

export function FirstPush({ app, deploys }: { app: App; deploys: readonly Deploy[] }) {
  const keys = useResource('keys', (signal) => call('GET /users/keys', { signal }));
  const names = Object.keys(keys.data.value ?? {});
  const [newest] = deploys;
  return (
    <>
      <Card title={`Bring ${app.Name} on the air`}>
        <ol class="steps">
          <li class={names.length > 0 ? 'done' : ''}>
            <h3>{names.length > 0 ? `Your key: ${names.join(', ')}` : 'Add your SSH key'}</h3>
            <div>
              <Loaded from={keys}>
                {() =>
                  names.length > 0 ? (
                    <p class="muted">Pushes with this key are yours.</p>
                  ) : (
                    <AddKey added={() => void keys.refresh()} />
                  )
                }
              </Loaded>
            </div>
          </li>
          <li>
            <h3>Push your code</h3>
            <div class="stack dense">
              <p class="muted">In the folder with your code, committed to git:</p>
              <Copyable text={`git remote add tancho ${app.Repository}\ngit push tancho HEAD:main`} />
            </div>
          </li>
          <li class={newest?.State === 'done' ? 'done' : ''}>
            <h3>See it arrive</h3>
            <div role="status">{newest === undefined ? <Waiting /> : <Arrived app={app.Name} deploy={newest} />}</div>
          </li>
        </ol>
      </Card>
      <DropZone app={app.Name} />
    </>
  );
}

function Waiting() {
  return (
    <p class="row muted">
      <span class="spinner" aria-hidden="true" /> Waiting for the first push …
    </p>
  );
}

function Arrived({ app, deploy }: { app: string; deploy: Deploy }) {
  const isFailed = deploy.State === 'failed';
  return (
    <div class="stack dense">
      <p class="row">
        <Status state={deploy.State} label={isFailed ? `failed: ${deploy.Cause.replaceAll('_', ' ')}` : deploy.State} />
        <a href={BASE + at('apps', app, 'deploys', deploy.ID)}>{isFailed ? 'See what it said' : 'Watch the deploy'}</a>
        <span class="muted small">
          <Time at={deploy.Timestamp} /> by {deploy.User}
        </span>
      </p>
      {isFailed && <p>{deploy.Error}</p>}
    </div>
  );
}

function AddKey({ added }: { added: () => void }) {
  return (
    <Form
      action="Add key"
      onSubmit={async ({ key = '' }) => {
        await call('POST /users/keys', { body: { key: key.trim() } });
        notify('The key was added.');
        added();
      }}
    >
      <Area
        label="Public key"
        name="key"
        class="mono"
        rows={3}
        required
        placeholder="ssh-ed25519 AAAA… you@laptop"
        help={
          <>
            What <code>cat ~/.ssh/id_ed25519.pub</code> prints. Without a key: <code>ssh-keygen -t ed25519</code> makes
            one.
          </>
        }
      />
    </Form>
  );
}
