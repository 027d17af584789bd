import { call } from '../api/call.ts';
import { useResource } from '../data/resource.ts';
import { Card, Empty, Head, Loaded } from '../parts/content.tsx';
import { Choice, Field } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { Table } from '../parts/table.tsx';
import { at, BASE } from '../routing/location.ts';
import { Manifest } from './manifest.tsx';

/** Services that the viewer may use, with their instances. */
export default function Services() {
  const services = useResource('services', (signal) => call('GET /services/instances', { signal }));
  return (
    <>
      <Head title="Services">
        <Manifest
          title="New service"
          action="Add"
          done="The service is in the catalog."
          onDone={() => services.refresh()}
          onSubmit={(body) => call('POST /services', { body })}
        />
        {(services.data.value ?? []).length > 0 && (
          <NewInstance
            services={(services.data.value ?? []).map(({ service }) => service)}
            done={() => services.refresh()}
          />
        )}
      </Head>
      <Loaded from={services}>
        {(list) =>
          list.length === 0 ? (
            <div class="card">
              <Empty title="No service yet" icon="services">
                <p>
                  A service is offered by a provider: <code>tancho provider postgres</code> runs one for PostgreSQL. Its
                  manifest brings it into the catalog.
                </p>
              </Empty>
            </div>
          ) : (
            list.map(({ service, instances, plans }) => (
              <Card
                key={service}
                title={service}
                isPlain
                actions={<a href={BASE + at('services', service)}>About {service}</a>}
              >
                {instances.length === 0 ? (
                  <Empty title={`No instance of ${service}`} />
                ) : (
                  <Table
                    label={`Instances of ${service}`}
                    columns={['Instance', 'Plan']}
                    rows={instances.map((name, index) => ({
                      key: name,
                      cells: [<a href={BASE + at('instances', name)}>{name}</a>, plans[index] || 'default'],
                    }))}
                  />
                )}
              </Card>
            ))
          )
        }
      </Loaded>
    </>
  );
}

function NewInstance({ services, done }: { services: readonly string[]; done: () => unknown }) {
  const teams = useResource('teams', (signal) => call('GET /teams', { signal }));
  const options = (teams.data.value ?? []).map(({ name }) => ({ value: name, label: name }));
  return (
    <FormDialog
      title="New instance"
      action="Create"
      done="The instance is there."
      isMain
      onDone={done}
      onSubmit={({ service = '', name = '', plan = '', owner = '' }) =>
        call('POST /services/instances', {
          body: { service_name: service, name: name.trim(), owner, ...(plan !== '' && { plan }) },
        })
      }
    >
      <Choice label="Service" name="service" options={services.map((value) => ({ value, label: value }))} />
      <Field label="Name" name="name" required />
      <Field label="Plan" name="plan" help="Empty for the default of the service." />
      <Choice label="Team" name="owner" options={options} />
    </FormDialog>
  );
}
