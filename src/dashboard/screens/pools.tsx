import { call } from '../api/call.ts';
import type { AnswerOf } from '../api/operations.ts';
import { viewer } from '../api/session.ts';
import { useResource } from '../data/resource.ts';
import { Card, Head, Loaded } from '../parts/content.tsx';
import { Check, Choice, Field } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { RemoveButton } from '../parts/remove-button.tsx';
import { Table } from '../parts/table.tsx';

type Pool = AnswerOf<'GET /1.0/pools'>[number];

export default function Pools() {
  const pools = useResource('pools', (signal) => call('GET /1.0/pools', { signal }), 15_000);
  const changed = (): void => void pools.refresh();
  const { isAdmin } = viewer();
  return (
    <>
      <Head title="Pools">
        {isAdmin && (
          <FormDialog
            title="New pool"
            action="Create"
            done="The pool is there."
            isMain
            onDone={changed}
            onSubmit={({ name = '', engine = '', isPublic }) =>
              call('POST /pools', { body: { name: name.trim(), engine: engine.trim(), public: isPublic === 'on' } })
            }
          >
            <Field label="Name" name="name" required />
            <Field label="Engine that runs its apps (empty: this server's own)" name="engine" />
            <Check label="Every team may use it" name="isPublic" />
          </FormDialog>
        )}
      </Head>
      <Card isPlain>
        <Loaded from={pools}>
          {(list) => (
            <Table
              label="Pools"
              columns={['Name', 'Who may use it', 'Where its apps run']}
              rows={list.map((one) => ({
                key: one.Name,
                cells: [
                  one.Default ? `${one.Name} (default)` : one.Name,
                  one.Public ? 'every team' : one.Teams.join(', ') || 'no team',
                  [one.Engine, ...Object.entries(one.Options).map((option) => option.join(' '))].join(', '),
                ],
                ...(isAdmin && { actions: <Actions pool={one} changed={changed} /> }),
              }))}
            />
          )}
        </Loaded>
      </Card>
    </>
  );
}

function Actions({
  pool: { Name: pool, Teams, Public, Default, Engine },
  changed,
}: {
  pool: Pool;
  changed: () => void;
}) {
  const params = { pool };
  return (
    <>
      <FormDialog
        title="Add a team"
        of={`to ${pool}`}
        action="Add"
        done="That team may use it."
        onDone={changed}
        onSubmit={({ team = '' }) =>
          call('POST /pools/{pool}/team', { params, query: { team: team.trim() }, body: {} })
        }
      >
        <Field label={`Team that may use ${pool}`} name="team" required />
      </FormDialog>
      {Teams.length > 0 && (
        <FormDialog
          title="Take a team away"
          of={`from ${pool}`}
          action="Take away"
          done="That team may not use it any more. Its apps there stay."
          onDone={changed}
          onSubmit={({ team = '' }) => call('DELETE /pools/{pool}/team', { params, query: { team }, body: {} })}
        >
          <Choice label="Team" name="team" options={Teams.map((value) => ({ value, label: value }))} />
        </FormDialog>
      )}
      <FormDialog
        title="Change"
        of={`the pool ${pool}`}
        action="Change"
        done={`${pool} is changed.`}
        onDone={changed}
        onSubmit={({ engine = '', isPublic }) =>
          call('PUT /pools/{pool}', {
            params,
            body: { public: isPublic === 'on', ...(engine.trim() !== Engine && { engine: engine.trim() }) },
          })
        }
      >
        <Field
          label="Engine that runs its apps"
          name="engine"
          value={Engine}
          help="Another one only while there is no app in it."
        />
        <Check label="Every team may use it" name="isPublic" checked={Public} />
      </FormDialog>
      {!Default && (
        <RemoveButton
          what={`the pool ${pool}`}
          text="There must be no app in it."
          work={() => call('DELETE /pools/{pool}', { params, body: {} })}
          onDone={changed}
        />
      )}
    </>
  );
}
