import { call } from '../api/call.ts';
import type { AnswerOf } from '../api/operations.ts';
import { Problem } from '../api/problem.ts';
import { plural } from '../data/format.ts';
import { useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Empty, Head, Loaded, Time } from '../parts/content.tsx';
import { Area, Choice, Field } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { RemoveButton } from '../parts/remove-button.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { notify } from '../parts/toasts.tsx';
import { at, BASE, query } from '../routing/location.ts';

type Drain = AnswerOf<'GET /drains'>[number];

/** Where logs are sent on to, and how far that has come. */
export default function Drains() {
  const app = query.value.get('app') ?? '';
  const drains = useResource(`drains ${app}`, (signal) => call('GET /drains', { query: { app }, signal }));
  const changed = (): void => void drains.refresh();
  return (
    <>
      <Head
        title={app === '' ? 'Drains' : `Drains of ${app}`}
        {...(app !== '' && { crumbs: <a href={BASE + at('apps', app, 'settings')}>{app}</a> })}
      >
        <FormDialog
          title="New drain"
          action="Create"
          done="What is logged from now on is sent there."
          isMain
          onDone={changed}
          onSubmit={({ app: of = '', ...rest }) =>
            call('POST /drains', { body: { ...receiverOf(rest), ...(of.trim() !== '' && { app: of.trim() }) } })
          }
        >
          <Field label="App" name="app" value={app} help="Empty: what all apps log; for admins." />
          <Receiver isRequired />
        </FormDialog>
      </Head>
      <Card isPlain>
        <Loaded from={drains}>
          {(list) =>
            list.length === 0 ? (
              <Empty title="No drain yet" icon="drains">
                <p>A drain sends what apps log on to a receiver elsewhere: syslog, HTTP, OTLP or Loki.</p>
              </Empty>
            ) : (
              <DrainTable drains={list} changed={changed} />
            )
          }
        </Loaded>
      </Card>
    </>
  );
}

function DrainTable({ drains, changed }: { drains: readonly Drain[]; changed: () => void }) {
  return (
    <Table
      label="Drains"
      columns={['Receiver', 'App', 'State', 'Last delivered', 'Waiting']}
      rows={drains.map((drain) => ({
        key: drain.id,
        cells: [
          <span class="stack dense">
            <code>{drain.receiver}</code>
            <span class="small muted">
              {drain.format}
              {drain.headers.length > 0 && `, with ${drain.headers.join(', ')}`}
            </span>
          </span>,
          drain.app === '' ? 'all apps' : <a href={BASE + at('apps', drain.app)}>{drain.app}</a>,
          <State drain={drain} />,
          <Time at={drain.last_success_at} />,
          plural(drain.waiting, 'line'),
        ],
        actions: <Actions drain={drain} changed={changed} />,
      }))}
    />
  );
}

function State({ drain: { failures, last_error: error, last_error_at: errorAt, lost } }: { drain: Drain }) {
  return (
    <span class="stack dense">
      <span>
        {failures === 0 ? (
          <Status state="well" />
        ) : (
          <Status state="failed" label={`failed ${plural(failures, 'time')}`} />
        )}
      </span>
      {failures > 0 && (
        <span class="small">
          {error} (<Time at={errorAt} />)
        </span>
      )}
      {lost > 0 && <span class="small">{plural(lost, 'line')} were removed before they could be sent</span>}
    </span>
  );
}

function Actions({ drain: { id, receiver, format }, changed }: { drain: Drain; changed: () => void }) {
  return (
    <>
      <ActButton
        work={async () => {
          const { delivered, answer } = await call('POST /drains/{drain}/test', { params: { drain: id } });
          if (!delivered) throw new Problem(answer || 'The receiver did not take it.', { code: 'dashboard' });
          notify(answer === '' ? 'The receiver has taken one line.' : `The receiver has taken one line: ${answer}`);
        }}
        done=""
        label={`Test the drain to ${receiver}`}
        onDone={changed}
      >
        Test
      </ActButton>
      <FormDialog
        title="Change"
        of={`the drain to ${receiver}`}
        action="Change"
        done="What is not sent yet goes there."
        onDone={changed}
        onSubmit={(values) => call('PUT /drains/{drain}', { params: { drain: id }, body: receiverOf(values) })}
      >
        <Receiver format={format} />
      </FormDialog>
      <RemoveButton
        what={`the drain to ${receiver}`}
        text="What it has not sent is not sent any more."
        work={() => call('DELETE /drains/{drain}', { params: { drain: id } })}
        onDone={changed}
      />
    </>
  );
}

const FORMATS = ['', 'ndjson', 'otlp', 'loki', 'syslog'];

function Receiver({ format = '', isRequired = false }: { format?: string; isRequired?: boolean }) {
  return (
    <>
      <Field
        label="URL"
        name="url"
        class="mono"
        required={isRequired}
        placeholder="syslog+tls://logs.example.com:6514"
        help={isRequired ? 'It may hold a user and a password; they are shown nowhere.' : 'Empty: the one it has.'}
      />
      <Choice
        label="Format"
        name="format"
        value={format}
        options={[...new Set([...FORMATS, format])].map((value) => ({ value, label: value || 'as the URL says' }))}
      />
      <Area
        label="Headers"
        name="headers"
        class="mono"
        placeholder="Authorization: Bearer …"
        help="One per line, for receivers over HTTP. Their values are shown nowhere."
      />
    </>
  );
}

function receiverOf({ url = '', format = '', headers = '' }: Record<string, string>) {
  const given = headers.split('\n').filter((line) => line.trim() !== '');
  const named = given.map((line) => {
    const at = line.indexOf(':');
    if (at < 1) throw new Problem('A header is written as Name: value.', { code: 'dashboard' });
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()] as const;
  });
  return {
    ...(url.trim() !== '' && { url: url.trim() }),
    ...(format !== '' && { format }),
    ...(named.length > 0 && { headers: Object.fromEntries(named) }),
  };
}
