import { call } from '../api/call.ts';
import { viewer } from '../api/session.ts';
import { useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Head, Loaded } from '../parts/content.tsx';
import { Field } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { QuotaForm } from '../parts/quota-form.tsx';
import { RemoveButton } from '../parts/remove-button.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';

/** Their administration. */
export default function Users() {
  const users = useResource('users', (signal) => call('GET /users', { signal }), 15_000);
  const changed = (): void => void users.refresh();
  return (
    <>
      <Head title="Users">
        <FormDialog
          title="New user"
          action="Create"
          done="The account is there."
          isMain
          onDone={changed}
          onSubmit={({ email = '', password = '' }) => call('POST /users', { body: { email: email.trim(), password } })}
        >
          <Field label="E-mail" name="email" type="email" required />
          <Field
            label="Password"
            name="password"
            type="password"
            autocomplete="new-password"
            required
            help="They can change it after their first login."
          />
        </FormDialog>
      </Head>
      <Card isPlain>
        <Loaded from={users}>
          {(list) => (
            <Table
              label="Users"
              columns={['E-mail', 'Teams', 'Rights']}
              rows={list.map(({ Email: email, Teams, Admin }) => ({
                key: email,
                cells: [
                  email === viewer().email ? `${email} (you)` : email,
                  Teams.join(', '),
                  Admin ? <Status state="admin" mood="good" /> : 'user',
                ],
                actions: <UserActions email={email} isAdmin={Admin} changed={changed} />,
              }))}
            />
          )}
        </Loaded>
      </Card>
    </>
  );
}

function UserActions({ email, isAdmin, changed }: { email: string; isAdmin: boolean; changed: () => void }) {
  const params = { email };
  return (
    <>
      <ActButton
        work={() =>
          isAdmin ? call('DELETE /users/{email}/admin', { params }) : call('PUT /users/{email}/admin', { params })
        }
        done={isAdmin ? `${email} is a user like others.` : `${email} is an admin.`}
        label={`${isAdmin ? 'Make a user' : 'Make an admin'}: ${email}`}
        question={{
          title: isAdmin ? `Take the rights of ${email} away?` : `Make ${email} an admin?`,
          text: 'It counts at once, for every session of theirs.',
          action: isAdmin ? 'Take away' : 'Make an admin',
          isDangerous: true,
        }}
        onDone={changed}
      >
        {isAdmin ? 'Make a user' : 'Make an admin'}
      </ActButton>
      <QuotaForm
        title="Quota"
        of={`of ${email}`}
        label={`Apps that ${email} may own`}
        read={(signal) => call('GET /users/{email}/quota', { params, signal })}
        set={(limit) => call('PUT /users/{email}/quota', { params, body: { limit } })}
        changed={changed}
      />
      <RemoveButton
        what={email}
        text="Their sessions and keys end."
        work={() => call('DELETE /users', { query: { user: email } })}
        typed={email}
        onDone={changed}
      />
    </>
  );
}
