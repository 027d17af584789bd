import { call } from '../api/call.ts';
import type { AnswerOf } from '../api/operations.ts';
import { viewer } from '../api/session.ts';
import { useResource } from '../data/resource.ts';
import { Card, Head, Loaded } from '../parts/content.tsx';
import { Checkbox, Field } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { RemoveButton } from '../parts/remove-button.tsx';
import { Table } from '../parts/table.tsx';
import { GiveTeam, TakeTeam } from '../parts/team-forms.tsx';

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
            <PoolFields help="Empty: this server's own." />
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

function PoolFields({ engine, isPublic, help }: { engine?: string; isPublic?: boolean; help: string }) {
  return (
    <>
      <Field
        label="Engine that runs its apps"
        name="engine"
        help={help}
        {...(engine !== undefined && { value: engine })}
      />
      <Checkbox label="Every team may use it" name="isPublic" {...(isPublic !== undefined && { checked: isPublic })} />
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
      <GiveTeam
        of={pool}
        done="That team may use it."
        change={(team) => call('POST /pools/{pool}/team', { params, query: { team }, body: {} })}
        changed={changed}
      />
      {Teams.length > 0 && (
        <TakeTeam
          of={pool}
          done="That team may not use it any more. Its apps there stay."
          teams={Teams}
          change={(team) => call('DELETE /pools/{pool}/team', { params, query: { team }, body: {} })}
          changed={changed}
        />
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
        <PoolFields engine={Engine} isPublic={Public} help="Another one only while there is no app in it." />
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
