import { call } from '../api/call.ts';
import { viewer } from '../api/session.ts';
import { useResource } from '../data/resource.ts';
import { Card, Empty, Head, Loaded } from '../parts/content.tsx';
import { Field } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { RemoveButton } from '../parts/remove-button.tsx';
import { Table } from '../parts/table.tsx';

const teamsWithMembers = async (signal: AbortSignal) => {
  const teams = await call('GET /teams', { signal });
  return Promise.all(teams.map(({ name: team }) => call('GET /teams/{team}', { params: { team }, signal })));
};

export default function Teams() {
  const teams = useResource('teams', teamsWithMembers, 15_000);
  const changed = (): void => void teams.refresh();
  return (
    <>
      <Head title="Teams">
        <FormDialog
          title="New team"
          action="Create"
          done="The team is there, with you in it."
          isMain
          onDone={changed}
          onSubmit={({ name = '' }) => call('POST /teams', { body: { name: name.trim() } })}
        >
          <Field label="Name" name="name" required />
        </FormDialog>
      </Head>
      <Loaded from={teams}>
        {(list) =>
          list.length === 0 ? (
            <div class="card">
              <Empty title="You are in no team yet" icon="teams">
                <p>Apps belong to teams: what a member sees, all of them see.</p>
              </Empty>
            </div>
          ) : (
            list.map(({ name, users }) => <Team key={name} name={name} users={users} changed={changed} />)
          )
        }
      </Loaded>
    </>
  );
}

function Team({ name: team, users, changed }: { name: string; users: readonly string[]; changed: () => void }) {
  return (
    <Card
      title={team}
      isPlain
      actions={
        <>
          <FormDialog
            title={`Add a member to ${team}`}
            action="Add"
            done="They are a member now."
            onDone={changed}
            onSubmit={({ user = '' }) => call('PUT /teams/{team}/{user}', { params: { team, user: user.trim() } })}
          >
            <Field label="E-mail" name="user" type="email" required help="Of somebody who has an account here." />
          </FormDialog>
          <RemoveButton
            what={`the team ${team}`}
            text="It must own nothing any more."
            work={() => call('DELETE /teams/{team}', { params: { team } })}
            onDone={changed}
          />
        </>
      }
    >
      <Table
        label={`Members of ${team}`}
        columns={['Member']}
        rows={users.map((user) => ({
          key: user,
          cells: [user === viewer().email ? `${user} (you)` : user],
          actions: (
            <RemoveButton
              what={`${user} from ${team}`}
              text="They do not see its apps any more."
              work={() => call('DELETE /teams/{team}/{user}', { params: { team, user } })}
              onDone={changed}
            />
          ),
        }))}
      />
    </Card>
  );
}
