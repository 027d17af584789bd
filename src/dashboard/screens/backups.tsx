import { call, perform } from '../api/call.ts';
import type { AnswerOf } from '../api/operations.ts';
import { bytes, plural, span } from '../data/format.ts';
import { type Resource, useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Copyable, Empty, Head, Loaded, Note, Time } from '../parts/content.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { BASE } from '../routing/location.ts';

type Shown = AnswerOf<'GET /backups'>;
type Warned = AnswerOf<'GET /alerts'>;

/** Which there are, how the last one went, when the next one is made, and how to get one back. */
export default function Backups() {
  const shown = useResource('backups', (signal) => call('GET /backups', { signal }));
  const found = shown.data.value;
  return (
    <>
      <Head title="Backups" beside={found !== undefined && <Verdict shown={found} />}>
        {found !== undefined && found.directory !== '' && (
          <ActButton
            task="Make a backup"
            work={(said) => perform('POST /backups', said)}
            look="main"
            onDone={() => shown.refresh()}
          >
            Make one now
          </ActButton>
        )}
      </Head>
      <Loaded from={shown}>{(value) => (value.directory === '' ? <NoPlace /> : <Place shown={value} />)}</Loaded>
    </>
  );
}

function Verdict({ shown: { directory, problem, backups } }: { shown: Shown }) {
  if (directory === '') return <Status state="off" label="none are made" mood="wait" />;
  if (problem !== '') return <Status state="failed" label="the last one failed" />;
  if (backups.length === 0) return <Status state="off" label="none yet" mood="wait" />;
  return <Status state="well" label="the last one is whole" />;
}

function NoPlace() {
  return (
    <Card title="No backups are made">
      <div class="stack">
        <p>
          If the disk of this machine is lost, so are users, apps, code, keys and logs. Name a directory in{' '}
          <code>config.yaml</code>, best on another disk or a mounted share:
        </p>
        <Copyable text="backup.directory: /srv/backups" />
        <p>Then restart the server; the apps go on meanwhile. The first backup is made within a minute:</p>
        <Copyable text="tancho server stop && tancho server" />
      </div>
    </Card>
  );
}

function Place({ shown }: { shown: Shown }) {
  return (
    <>
      {shown.problem !== '' && (
        <Note mood="bad">
          <strong class="break">{shown.problem}</strong>
          <span>
            Tried <Time at={shown.tried_at} />
            {shown.next_at !== '' && (
              <>
                ; it is tried again <Time at={shown.next_at} />
              </>
            )}
            . The backups below are still whole.
          </span>
        </Note>
      )}
      <Card title="Schedule">
        <Schedule shown={shown} />
      </Card>
      <Card title={plural(shown.backups.length, 'backup')} isPlain>
        {shown.backups.length === 0 ? (
          <Empty title="There is no backup yet" icon="backups">
            <p>{shown.next_at === '' ? 'One is made when somebody asks.' : 'The first is made within a minute.'}</p>
          </Empty>
        ) : (
          <Table
            label="Backups"
            columns={['Name', 'Made', 'Size', 'Version']}
            rows={shown.backups.map(({ name, made_at, bytes: size, version }) => ({
              key: name,
              cells: [<code>{name}</code>, <Time at={made_at} />, bytes(size), version],
            }))}
          />
        )}
      </Card>
      <Restore shown={shown} />
    </>
  );
}

function Schedule({ shown }: { shown: Shown }) {
  const alerts = useResource('alerts', (signal) => call('GET /alerts', { signal }), 10_000);
  return (
    <dl class="facts">
      <dt>Directory</dt>
      <dd class="mono">{shown.directory}</dd>
      <dt>Made</dt>
      <dd>
        {shown.every_seconds === 0 ? 'when somebody asks' : `every ${span(shown.every_seconds)}`}; the newest{' '}
        {shown.keep} are kept
      </dd>
      <dt>Last whole one</dt>
      <dd>
        <Time at={shown.succeeded_at} />
      </dd>
      <dt>Next</dt>
      <dd>{shown.next_at === '' ? 'none by itself' : <Time at={shown.next_at} />}</dd>
      <dt>Alert</dt>
      <dd>
        <Alert from={alerts} />
      </dd>
    </dl>
  );
}

/** Who hears of it when there is none. */
function Alert({ from }: { from: Resource<Warned> }) {
  const known = from.data.value;
  if (known === undefined) return <span class="muted">{from.problem.value?.message ?? '…'}</span>;
  const rule = known.rules.find(({ name }) => name === 'backup');
  const going = known.alerts.find(({ rule: name, state }) => name === 'backup' && state !== 'resolved');
  const reported = known.mail.length === 0 ? 'webhooks' : `webhooks and ${known.mail.join(', ')}`;
  return (
    <span class="row tight">
      {going !== undefined && <Status state={going.state} mood="bad" />}
      <span class="break">
        {rule?.on === true
          ? `when one fails, or the newest is older than ${plural(rule.threshold, 'hour')}; ${reported} get it`
          : 'nobody is informed'}
      </span>
      <a href={`${BASE}/alerts`}>Change</a>
    </span>
  );
}

/** As a shell takes it. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

function Restore({ shown: { directory, backups } }: { shown: Shown }) {
  const [newest] = backups;
  if (newest === undefined) return null;
  return (
    <Card title="Restore">
      <div class="stack">
        <p>
          In a terminal, on this machine or another one with the same version, into a home that has nothing yet. Every
          byte is checked first.
        </p>
        <Copyable
          text={`TANCHO_HOME=/var/lib/tancho tancho server restore ${quoted(`${directory}/${newest.name}`)}\nTANCHO_HOME=/var/lib/tancho tancho server`}
        />
        <p class="muted small">
          Not in a backup are the files of volumes and the data of services. Whoever can read one can read every private
          value of every app.
        </p>
      </div>
    </Card>
  );
}
