import { call } from '../api/call.ts';
import type { App } from '../api/operations.ts';
import { useResource } from '../data/resource.ts';
import { Card } from '../parts/content.tsx';
import { Checkbox, Choice, Field } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { RemoveButton } from '../parts/remove-button.tsx';
import { Table } from '../parts/table.tsx';

const RARELY_MS = 30_000;

/** At which names it answers, and the exchange of all of them with another app. */
export function AppDomains({ app, changed }: { app: App; changed: () => void }) {
  const params = { app: app.Name };
  const own = [...new Set([...(app.cname ?? [])])];
  return (
    <Card
      title="Domains"
      isPlain
      actions={
        <>
          <Swap app={app} changed={changed} />
          <FormDialog
            title="Add a domain"
            action="Add"
            done="The app answers at that name, too."
            onDone={changed}
            onSubmit={({ cname = '' }) => call('POST /apps/{app}/cname', { params, body: { cname: cname.trim() } })}
          >
            <Field
              label="Host name"
              name="cname"
              required
              placeholder="www.example.com"
              help="Its DNS record has to lead to this platform."
            />
          </FormDialog>
        </>
      }
    >
      <Table
        label="Domains"
        columns={['Name', 'Kind']}
        rows={[
          ...own.map((cname) => ({
            key: cname,
            cells: [cname, 'your own'],
            actions: (
              <RemoveButton
                what={cname}
                text="Requests for that name are not answered by this app any more."
                work={() => call('DELETE /apps/{app}/cname', { params, body: { cname } })}
                onDone={changed}
              />
            ),
          })),
          { key: app.Ip, cells: [app.Ip, 'of the platform'] },
        ]}
      />
    </Card>
  );
}

function Swap({ app: { Name: name, swappedWith = '' }, changed }: { app: App; changed: () => void }) {
  const apps = useResource('apps to swap with', (signal) => call('GET /apps', { signal }), RARELY_MS);
  const others = (apps.data.value ?? []).map(({ Name }) => Name).filter((one) => one !== name);
  if (others.length === 0) return null;
  return (
    <FormDialog
      title="Exchange addresses"
      action="Exchange"
      done="Each of the two answers where the other did. The same once more undoes it."
      onDone={changed}
      onSubmit={({ other = '', cnameOnly, force }) =>
        call('PUT /swap', {
          query: { app1: name, app2: other, cnameOnly: cnameOnly === 'on', force: force === 'on' },
          body: {},
        })
      }
    >
      {swappedWith !== '' && <p class="muted">Its addresses are exchanged with those of {swappedWith}.</p>}
      <Choice
        label="With"
        name="other"
        value={swappedWith}
        options={others.map((value) => ({ value, label: value }))}
      />
      <Checkbox label="Only the domains of your own" name="cnameOnly" />
      <Checkbox label="Also where the two differ in platform or number of units" name="force" />
    </FormDialog>
  );
}
