import { useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { viewer } from '../api/session.ts';
import { Problem } from '../api/problem.ts';
import { signOut } from '../api/sign-in.ts';
import { plural } from '../data/format.ts';
import { useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Copyable, Empty, Head, Loaded } from '../parts/content.tsx';
import { Area, Field, Form } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { RemoveButton } from '../parts/remove-button.tsx';
import { Table } from '../parts/table.tsx';
import { notify } from '../parts/toasts.tsx';
import { SIGN_OUT_EVERYWHERE } from '../sign-out.tsx';

export default function Account() {
  return (
    <>
      <Head title="Your account" />
      <Keys />
      <ApiKey />
      <Password />
      <Quota />
      <Card title="Sessions">
        <div class="row between">
          <p class="muted">Lost a laptop? This ends every session of yours, wherever it is.</p>
          <ActButton work={() => signOut(true)} look="danger" question={SIGN_OUT_EVERYWHERE}>
            Sign out everywhere
          </ActButton>
        </div>
      </Card>
    </>
  );
}

function Keys() {
  const keys = useResource('keys', (signal) => call('GET /users/keys', { signal }), 15_000);
  const changed = (): void => void keys.refresh();
  return (
    <Card
      title="SSH keys"
      isPlain
      actions={
        <FormDialog
          title="Add a key"
          action="Add"
          done="The key was added."
          onDone={changed}
          onSubmit={({ key = '', name = '' }) =>
            call('POST /users/keys', { body: { key: key.trim(), ...(name !== '' && { name }) } })
          }
        >
          <Area label="Public key" name="key" class="mono" required placeholder="ssh-ed25519 AAAA… you@laptop" />
          <Field label="Name" name="name" help="Empty: what stands behind the key." />
        </FormDialog>
      }
    >
      <Loaded from={keys}>
        {(list) =>
          Object.keys(list).length === 0 ? (
            <Empty title="No key yet" icon="account">
              <p>A key of yours is what pushes over SSH are known by.</p>
            </Empty>
          ) : (
            <Table
              label="SSH keys"
              columns={['Name', 'Key']}
              rows={Object.entries(list).map(([name, key]) => ({
                key: name,
                cells: [name, <code>{`${key.slice(0, 28)}…${key.slice(-12)}`}</code>],
                actions: (
                  <RemoveButton
                    what={`the key ${name}`}
                    text="Nobody can push with it any more."
                    work={() => call('DELETE /users/keys/{name}', { params: { name } })}
                    onDone={changed}
                  />
                ),
              }))}
            />
          )
        }
      </Loaded>
    </Card>
  );
}

function ApiKey() {
  const [key, setKey] = useState('');
  return (
    <Card title="API key">
      <div class="stack">
        <p class="muted">
          It works in place of a login in programs, and as the password of git over HTTP. It stays until it is made
          anew.
        </p>
        {key !== '' && <Copyable text={key} label="Copy the API key" />}
        <div class="row">
          <ActButton work={async () => setKey(key === '' ? (await call('GET /users/api-key')).token : '')}>
            {key === '' ? 'Show' : 'Hide'}
          </ActButton>
          <ActButton
            work={async () => setKey(await call('POST /users/api-key'))}
            done="This is your new API key."
            question={{
              title: 'Make a new API key?',
              text: 'The old one is void at once.',
              action: 'Make a new one',
              isDangerous: true,
            }}
          >
            Make a new one
          </ActButton>
        </div>
      </div>
    </Card>
  );
}

function Password() {
  const change = async ({ old = '', wanted = '', again = '' }: Record<string, string>): Promise<void> => {
    if (wanted !== again) throw new Problem('The two new passwords differ.', { code: 'dashboard', field: 'again' });
    await call('PUT /users/password', { body: { old, new: wanted } });
    notify('The password is changed. Your other sessions and the API key have ended.');
  };
  return (
    <Card title="Password">
      <Form action="Change the password" onSubmit={change} isLasting>
        <Field label="Old password" name="old" type="password" autocomplete="current-password" required />
        <Field label="New password" name="wanted" type="password" autocomplete="new-password" required />
        <Field label="New password, again" name="again" type="password" autocomplete="new-password" required />
      </Form>
    </Card>
  );
}

function Quota() {
  const { email } = viewer();
  const quota = useResource(
    'quota',
    (signal) => call('GET /users/{email}/quota', { params: { email }, signal }),
    30_000,
  );
  return (
    <Card title="Quota">
      <Loaded from={quota}>
        {({ limit, inuse }) => (
          <p>
            {limit < 0
              ? `You own ${plural(inuse, 'app')}; there is no limit.`
              : `You own ${inuse} of ${plural(limit, 'app')}.`}
          </p>
        )}
      </Loaded>
    </Card>
  );
}
