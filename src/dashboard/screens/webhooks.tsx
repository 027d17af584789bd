import { useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import type { AnswerOf } from '../api/operations.ts';
import { Problem } from '../api/problem.ts';
import { viewer } from '../api/session.ts';
import { useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Copyable, Empty, Head, Loaded, Note, Time } from '../parts/content.tsx';
import { Choice, Field } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { RemoveButton } from '../parts/remove-button.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { notify } from '../parts/toasts.tsx';
import { at, BASE } from '../routing/location.ts';

type Webhook = AnswerOf<'GET /webhooks'>[number];

/** Who else is notified of what happens. */
export default function Webhooks() {
  const webhooks = useResource('webhooks', (signal) => call('GET /webhooks', { signal }));
  const [secret, setSecret] = useState('');
  const changed = (): void => void webhooks.refresh();
  return (
    <>
      <Head title="Webhooks">
        <Add done={changed} onSecret={setSecret} />
      </Head>
      {secret !== '' && (
        <Note mood="good">
          <strong>The secret that its receiver checks signatures with is shown only now.</strong>
          <Copyable text={secret} label="Copy the secret" />
        </Note>
      )}
      <Card isPlain>
        <Loaded from={webhooks}>
          {(list) =>
            list.length === 0 ? (
              <Empty title="No webhook yet" icon="webhooks">
                <p>
                  A webhook reports to a program elsewhere what happens: deploys, units that die, a disk that fills up.
                </p>
              </Empty>
            ) : (
              <WebhookTable webhooks={list} changed={changed} />
            )
          }
        </Loaded>
      </Card>
    </>
  );
}

export function aboutOf({ scope, owner }: Pick<Webhook, 'scope' | 'owner'>) {
  if (scope === 'app') return <a href={BASE + at('apps', owner)}>{owner}</a>;
  return scope === 'platform' ? 'everything' : `${scope} ${owner}`;
}

function WebhookTable({ webhooks, changed }: { webhooks: readonly Webhook[]; changed: () => void }) {
  return (
    <Table
      label="Webhooks"
      columns={['Receiver', 'About', 'Events', 'Last message', 'By', 'Since']}
      rows={webhooks.map((one) => ({
        key: one.id,
        cells: [
          <a href={BASE + at('webhooks', one.id)}>{one.receiver}</a>,
          aboutOf(one),
          one.events.join(', ') || 'all',
          <span class="stack dense">
            <span>{one.last_state === '' ? 'none yet' : <Status state={one.last_state} />}</span>
            {one.last_answer !== '' && <span class="small muted">{one.last_answer}</span>}
          </span>,
          one.created_by,
          <Time at={one.created_at} />,
        ],
        actions: <Actions webhook={one} changed={changed} />,
      }))}
    />
  );
}

function Actions({ webhook: { id, receiver }, changed }: { webhook: Webhook; changed: () => void }) {
  const params = { webhook: id };
  return (
    <>
      <ActButton
        work={async () => {
          const { state, status, answer } = await call('POST /webhooks/{webhook}/test', { params });
          if (state !== 'delivered')
            throw new Problem(answer || `The receiver answered ${status}.`, { code: 'dashboard' });
          notify(`The receiver has taken a message: ${status} ${answer}`.trimEnd());
        }}
        label={`Test the webhook to ${receiver}`}
        onDone={changed}
      >
        Test
      </ActButton>
      <RemoveButton
        what={`the webhook to ${receiver}`}
        text="What waits is not sent any more."
        work={() => call('DELETE /webhooks/{webhook}', { params })}
        onDone={changed}
      />
    </>
  );
}

const ABOUT = [
  { value: 'app', label: 'one app' },
  { value: 'team', label: 'the apps of a team' },
  { value: 'user', label: 'the apps of your teams, and what you are refused' },
];

function Add({ done, onSecret }: { done: () => void; onSecret: (secret: string) => void }) {
  const { isAdmin, email } = viewer();
  const add = async ({ url = '', about = '', name = '', events = '' }: Record<string, string>): Promise<void> => {
    const owner = about === 'user' ? { user: email } : about === 'platform' ? {} : { [about]: name.trim() };
    const kinds = events.split(/[\s,]+/).filter(Boolean);
    const { secret } = await call('POST /webhooks', { body: { url: url.trim(), ...owner, events: kinds } });
    onSecret(secret);
  };
  return (
    <FormDialog
      title="New webhook"
      action="Create"
      done="What happens from now on is sent to it."
      isMain
      onDone={done}
      onSubmit={add}
    >
      <Field
        label="URL"
        name="url"
        class="mono"
        required
        placeholder="https://hooks.example.com/tancho"
        help="Only its host is shown from then on."
      />
      <Choice
        label="What it gets"
        name="about"
        options={isAdmin ? [...ABOUT, { value: 'platform', label: 'everything on the platform' }] : ABOUT}
      />
      <Field label="Name of the app or team" name="name" help="Empty where it is about neither." />
      <Field
        label="Events"
        name="events"
        placeholder="deploy.done deploy.failed unit.died"
        help="Empty: all. docs/webhooks.md lists them."
      />
    </FormDialog>
  );
}
