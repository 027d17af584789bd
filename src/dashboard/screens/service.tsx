import { call } from '../api/call.ts';
import { useResource } from '../data/resource.ts';
import { Card, Empty, Head, Loaded } from '../parts/content.tsx';
import { Area } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { RemoveButton } from '../parts/remove-button.tsx';
import { Table } from '../parts/table.tsx';
import { GiveTeam, TakeTeam } from '../parts/team-forms.tsx';
import { at, BASE, navigate } from '../routing/location.ts';
import type { Params } from '../routing/screens.ts';
import { Manifest } from './manifest.tsx';

const RARELY_MS = 30_000;

/** One service of the catalog: how it is used, in which sizes, its instances; and what its owners do with it. */
export default function Service({ params: { service: name = '' } }: { params: Params }) {
  const params = { service: name };
  const service = useResource(`service ${name}`, async (signal) => {
    const [instances, owned] = await Promise.all([
      call('GET /services/{service}', { params, signal }),
      call('GET /services', { signal }),
    ]);
    return { instances, isOwned: owned.some(({ service: one }) => one === name) };
  });
  const isOwned = service.data.value?.isOwned === true;
  return (
    <>
      <Head title={name} crumbs={<a href={`${BASE}/services`}>Services</a>}>
        {isOwned && <OwnersActions name={name} changed={() => service.refresh()} />}
      </Head>
      <Loaded from={service}>
        {({ instances }) => (
          <>
            <Doc name={name} isOwned={isOwned} />
            <Plans name={name} />
            <Card title="Instances" isPlain>
              {instances.length === 0 ? (
                <Empty title={`No instance of ${name}`} icon="services" />
              ) : (
                <Table
                  label={`Instances of ${name}`}
                  columns={['Instance', 'Team', 'Plan', 'Apps']}
                  rows={instances.map((one) => ({
                    key: one.Name,
                    cells: [
                      <a href={BASE + at('instances', one.Name)}>{one.Name}</a>,
                      one.TeamOwner,
                      one.PlanName || 'default',
                      one.Apps.join(', '),
                    ],
                  }))}
                />
              )}
            </Card>
          </>
        )}
      </Loaded>
    </>
  );
}

function OwnersActions({ name, changed }: { name: string; changed: () => unknown }) {
  const of = (team: string) => ({ params: { service: name, team } });
  return (
    <>
      <GiveTeam
        done="That team may use it."
        help="Counts where the manifest says that the service is restricted."
        change={(team) => call('PUT /services/{service}/{team}', of(team))}
        changed={changed}
      />
      <TakeTeam
        done="That team may not use it any more. What it has stays."
        change={(team) => call('DELETE /services/{service}/{team}', of(team))}
        changed={changed}
      />
      <Manifest
        title="Replace the manifest"
        action="Replace"
        done="The provider is asked as the new manifest says."
        onDone={changed}
        onSubmit={(body) => call('PUT /services', { body })}
      />
      <RemoveButton
        what={`the service ${name}`}
        text="It must have no instances any more."
        work={() => call('DELETE /services/{service}', { params: { service: name } })}
        typed={name}
        onDone={() => navigate('/services')}
      />
    </>
  );
}

function Doc({ name, isOwned }: { name: string; isOwned: boolean }) {
  const params = { service: name };
  const doc = useResource(
    `doc ${name}`,
    (signal) => call('GET /services/{service}/doc', { params, signal }),
    RARELY_MS,
  );
  const text = doc.data.value ?? '';
  return (
    <Card
      title="How it is used"
      actions={
        isOwned &&
        doc.data.value !== undefined && (
          <FormDialog
            title="Change the text"
            action="Change"
            done="The text is changed."
            onDone={() => doc.refresh()}
            onSubmit={({ doc: body = '' }) => call('PUT /services/{service}/doc', { params, body })}
          >
            <Area label="How it is used" name="doc" rows={12} value={text} />
          </FormDialog>
        )
      }
    >
      <Loaded from={doc}>
        {() =>
          text.trim() === '' ? <p class="muted">Its owners have written nothing.</p> : <pre class="prose">{text}</pre>
        }
      </Loaded>
    </Card>
  );
}

function Plans({ name }: { name: string }) {
  const plans = useResource(
    `plans of ${name}`,
    (signal) => call('GET /services/{service}/plans', { params: { service: name }, signal }),
    RARELY_MS,
  );
  return (
    <Card title="Plans" isPlain>
      <Loaded from={plans}>
        {(list) =>
          list.length === 0 ? (
            <Empty title="It comes in one size" />
          ) : (
            <Table
              label={`Plans of ${name}`}
              columns={['Plan', 'What it is']}
              rows={list.map(({ Name, Description }) => ({ key: Name, cells: [Name, Description] }))}
            />
          )
        }
      </Loaded>
    </Card>
  );
}
