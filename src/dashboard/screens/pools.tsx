import { call } from '../api/call.ts';
import { viewer } from '../api/session.ts';
import { useResource } from '../data/resource.ts';
import { Card, Head, Loaded } from '../parts/content.tsx';
import { Check, Field } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { RemoveButton } from '../parts/remove-button.tsx';
import { Table } from '../parts/table.tsx';

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
              rows={list.map(({ Name: pool, Teams, Public, Default, Engine, Options }) => ({
                key: pool,
                cells: [
                  Default ? `${pool} (default)` : pool,
                  Public ? 'every team' : Teams.join(', ') || 'no team',
                  [Engine, ...Object.entries(Options).map((option) => option.join(' '))].join(', '),
                ],
                ...(isAdmin && {
                  actions: (
                    <>
                      <FormDialog
                        title="Add a team"
                        of={`to ${pool}`}
                        action="Add"
                        done="That team may use it."
                        onDone={changed}
                        onSubmit={({ team = '' }) =>
                          call('POST /pools/{pool}/team', { params: { pool }, query: { team: team.trim() }, body: {} })
                        }
                      >
                        <Field label={`Team that may use ${pool}`} name="team" required />
                      </FormDialog>
                      {!Default && (
                        <RemoveButton
                          what={`the pool ${pool}`}
                          text="There must be no app in it."
                          work={() => call('DELETE /pools/{pool}', { params: { pool }, body: {} })}
                          onDone={changed}
                        />
                      )}
                    </>
                  ),
                }),
              }))}
            />
          )}
        </Loaded>
      </Card>
    </>
  );
}
