import { call } from '../api/call.ts';
import type { Diagnosis } from '../api/operations.ts';
import { useResource } from '../data/resource.ts';
import { Card, Empty, Head, Loaded, Note } from '../parts/content.tsx';
import { Field, Form } from '../parts/form.tsx';
import { type Mood, Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { at, BASE, query, setQuery } from '../routing/location.ts';
import { Broken } from './broken.tsx';

const LOOK_MS = 15_000;
const MOODS: Readonly<Record<string, Mood>> = { well: 'good', broken: 'bad' };

/** Why nothing answers at an address, whichever app it belongs to. */
export default function Why() {
  const address = query.value.get('address') ?? '';
  return (
    <>
      <Head title="Why does an address not answer?" />
      <Card>
        <Form
          key={address}
          action="Look"
          onSubmit={async ({ address: typed = '' }) => setQuery({ address: typed.trim() }, false)}
        >
          <Field
            label="Address"
            name="address"
            class="mono"
            required
            value={address}
            placeholder="https://www.example.com/"
            help="A URL or a host name: the way of a request is looked at from the visitor to the process."
          />
        </Form>
      </Card>
      {address !== '' && <Found key={address} address={address} />}
    </>
  );
}

function Found({ address }: { address: string }) {
  const found = useResource(
    `why ${address}`,
    (signal) => call('GET /diagnosis', { query: { address }, signal }),
    LOOK_MS,
  );
  return <Loaded from={found}>{(diagnosis) => <Answer diagnosis={diagnosis} address={address} />}</Loaded>;
}

function Answer({ diagnosis, address }: { diagnosis: Diagnosis; address: string }) {
  const { app, broken, links, notes } = diagnosis;
  return (
    <>
      {broken === null || diagnosis.well ? (
        <Note mood="good">{address} answers.</Note>
      ) : (
        <Broken diagnosis={diagnosis} broken={broken} name={address} />
      )}
      {notes.length > 0 && (
        <Note mood="wait">
          {notes.map((note) => (
            <span key={note}>{note}</span>
          ))}
        </Note>
      )}
      <Card
        title="From the visitor to the process"
        isPlain
        actions={app !== '' && <a href={BASE + at('apps', app)}>{app}</a>}
      >
        {links.length === 0 ? (
          <Empty title="No app has this address" icon="search" />
        ) : (
          <Table
            label="From the visitor to the process"
            columns={['Part', 'What is asked', 'State']}
            rows={links.map(({ link, asks, state }) => ({
              key: link,
              cells: [link, asks, <Status state={state} mood={MOODS[state] ?? 'idle'} />],
            }))}
          />
        )}
      </Card>
    </>
  );
}
