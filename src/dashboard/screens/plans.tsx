import { call } from '../api/call.ts';
import { viewer } from '../api/session.ts';
import { bytes } from '../data/format.ts';
import { useResource } from '../data/resource.ts';
import { Card, Head, Loaded } from '../parts/content.tsx';
import { Checkbox, Field } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { RemoveButton } from '../parts/remove-button.tsx';
import { Table } from '../parts/table.tsx';

export default function Plans() {
  const plans = useResource('plans', (signal) => call('GET /plans', { signal }), 15_000);
  const changed = (): void => void plans.refresh();
  const { isAdmin } = viewer();
  return (
    <>
      <Head title="Plans">
        {isAdmin && (
          <FormDialog
            title="New plan"
            action="Create"
            done="The plan is there."
            isMain
            onDone={changed}
            onSubmit={({ name = '', memory = '', cpumilli = '', disk = '', isDefault }) =>
              call('POST /plans', {
                body: {
                  name: name.trim(),
                  memory: memory || 0,
                  cpumilli: Number(cpumilli) || 0,
                  disk: disk || 0,
                  default: isDefault === 'on',
                },
              })
            }
          >
            <Field label="Name" name="name" required />
            <Field label="Memory of a unit" name="memory" placeholder="512M" help="Empty for no limit." />
            <Field
              label="Thousandths of a processor"
              name="cpumilli"
              type="number"
              min={0}
              placeholder="500"
              help="Empty for no limit."
            />
            <Field label="Disk of a unit" name="disk" placeholder="2G" help="Empty for what the server is set to." />
            <Checkbox label="For new apps that ask for no other" name="isDefault" />
          </FormDialog>
        )}
      </Head>
      <Card isPlain>
        <Loaded from={plans}>
          {(list) => (
            <Table
              label="Plans"
              columns={['Name', 'Memory', 'Processor', 'Share', 'Disk']}
              rows={list.map((plan) => ({
                key: plan.name,
                cells: [
                  plan.default ? `${plan.name} (default)` : plan.name,
                  plan.memory === 0 ? 'no limit' : bytes(plan.memory),
                  plan.cpumilli === 0 ? 'no limit' : `${plan.cpumilli / 10} %`,
                  plan.cpushare || 'as all',
                  plan.disk === 0 ? 'as set' : bytes(plan.disk),
                ],
                ...(isAdmin &&
                  !plan.default && {
                    actions: (
                      <RemoveButton
                        what={`the plan ${plan.name}`}
                        text="Apps that have it keep its limits."
                        work={() => call('DELETE /plans/{plan}', { params: { plan: plan.name } })}
                        onDone={changed}
                      />
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
