import { useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { viewer } from '../api/session.ts';
import { useResource } from '../data/resource.ts';
import { Card, Empty, Head, Loaded } from '../parts/content.tsx';
import { Field } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { RemoveButton } from '../parts/remove-button.tsx';
import { Table } from '../parts/table.tsx';

const SOMETIMES_MS = 15_000;
/** Each asks for its members by itself: of more teams than that only those that are opened. */
const MOST_OPEN = 12;

export default function Teams() {
  const teams = useResource('teams', (signal) => call('GET /teams', { signal }), SOMETIMES_MS);
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
            list.map(({ name }) => <Team key={name} name={name} isOpen={list.length <= MOST_OPEN} changed={changed} />)
          )
        }
      </Loaded>
    </>
  );
}

interface TeamProps {
  readonly name: string;
  /** From the beginning. */
  readonly isOpen: boolean;
  readonly changed: () => void;
}

function Team({ name, isOpen, changed }: TeamProps) {
  const [isAsked, setAsked] = useState(false);
  if (isOpen || isAsked) return <Members team={name} changed={changed} />;
  return (
    <Card
      title={name}
      isPlain
      actions={
        <button type="button" class="button little" onClick={() => setAsked(true)}>
          Members <span class="unseen">of {name}</span>
        </button>
      }
    >
      {null}
    </Card>
  );
}

function Members({ team, changed: ofTeams }: { team: string; changed: () => void }) {
  const members = useResource(
    `team ${team}`,
    (signal) => call('GET /teams/{team}', { params: { team }, signal }),
    SOMETIMES_MS,
  );
  const changed = (): void => {
    void members.refresh();
    // Whoever has gone sees it no more.
    ofTeams();
  };
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
            onDone={ofTeams}
          />
        </>
      }
    >
      <Loaded from={members}>
        {({ users }) => (
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
        )}
      </Loaded>
    </Card>
  );
}
