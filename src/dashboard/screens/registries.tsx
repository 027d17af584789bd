import { call } from '../api/call.ts';
import { viewer } from '../api/session.ts';
import { useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Empty, Head, Loaded, Time } from '../parts/content.tsx';
import { Field } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { Table } from '../parts/table.tsx';

/** With which logins images are pulled. */
export default function Registries() {
  const logins = useResource('registries', (signal) => call('GET /registries', { signal }), 15_000);
  const changed = (): void => void logins.refresh();
  const { isAdmin, teams } = viewer();
  return (
    <>
      <Head title="Registries">
        <FormDialog
          title="New login"
          action="Keep"
          done="Images are pulled with that login."
          isMain
          onDone={changed}
          onSubmit={({ host = '', team = '', user = '', password = '' }) =>
            call('PUT /registries/{host}', {
              params: { host: host.trim() },
              body: { user: user.trim(), password, ...(team.trim() !== '' && { team: team.trim() }) },
            })
          }
        >
          <Field label="Registry" name="host" required placeholder="ghcr.io" />
          <Field label="User" name="user" required />
          <Field label="Password or token" name="password" type="password" required help="It is shown nowhere." />
          <Field
            label="Team"
            name="team"
            required={!isAdmin}
            value={isAdmin ? '' : (teams[0] ?? '')}
            help={isAdmin ? 'For whose apps; empty for all.' : 'For whose apps.'}
          />
        </FormDialog>
      </Head>
      <Card isPlain>
        <Loaded from={logins}>
          {(list) =>
            list.length === 0 ? (
              <Empty title="No login yet" icon="registries">
                <p>Public images need none. With one, apps run images that only its user may pull.</p>
              </Empty>
            ) : (
              <Table
                label="Logins at registries"
                columns={['Registry', 'Team', 'User', 'By', 'Since']}
                rows={list.map(({ host, team, user, created_by: by, created_at: since }) => ({
                  key: `${host} ${team}`,
                  cells: [host, team || 'all', user, by, <Time at={since} />],
                  actions: (
                    <ActButton
                      work={() => call('DELETE /registries/{host}', { params: { host }, query: { team } })}
                      done="The login is forgotten."
                      label={`Forget the login at ${host}`}
                      question={{
                        title: `Forget the login at ${host}?`,
                        text: 'Images that only its user may pull cannot be deployed any more; what runs goes on.',
                        action: 'Forget',
                        isDangerous: true,
                      }}
                      onDone={changed}
                    >
                      Forget
                    </ActButton>
                  ),
                }))}
              />
            )
          }
        </Loaded>
      </Card>
    </>
  );
}
