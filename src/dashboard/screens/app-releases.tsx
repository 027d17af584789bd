import { call } from '../api/call.ts';
import type { AnswerOf } from '../api/operations.ts';
import { useResource } from '../data/resource.ts';
import { Card, Empty, Loaded, Time } from '../parts/content.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { at, BASE, query, setQuery } from '../routing/location.ts';
import type { Params } from '../routing/screens.ts';
import { AppFrame, useApp } from './app-frame.tsx';

type Release = AnswerOf<'GET /apps/{app}/releases'>[number];
type Change = AnswerOf<'GET /apps/{app}/releases/compare'>['changes'][number];

/** Every release, and what differs between two of them. */
export default function AppReleases({ params: { app: name = '' } }: { params: Params }) {
  const app = useApp(name);
  const releases = useResource(`releases ${name}`, (signal) =>
    call('GET /apps/{app}/releases', { params: { app: name }, signal }),
  );
  return (
    <AppFrame app={app} name={name}>
      {() => (
        <Loaded from={releases}>
          {(list) =>
            list.length === 0 ? (
              <div class="card">
                <Empty title="There is no release yet" icon="deploys">
                  <p>Each deploy makes one, and so does each change of the environment, the processes or the limits.</p>
                </Empty>
              </div>
            ) : (
              <>
                {list.length > 1 && <Comparison app={name} releases={list} />}
                <ReleaseTable app={name} releases={list} />
              </>
            )
          }
        </Loaded>
      )}
    </AppFrame>
  );
}

function Comparison({ app, releases }: { app: string; releases: readonly Release[] }) {
  const serving = releases.find(({ current }) => current) ?? releases[0];
  const to = query.value.get('to') || String(serving?.release ?? '');
  const before = releases.find(({ release }) => release < Number(to));
  const from = query.value.get('from') || String(before?.release ?? releases.at(-1)?.release ?? '');
  const compared = useResource(`compare ${app} ${from} ${to}`, (signal) =>
    call('GET /apps/{app}/releases/compare', { params: { app }, query: { from, to }, signal }),
  );
  return (
    <Card
      title="Compare"
      isPlain
      actions={
        <>
          <Choice label="From" name="from" value={from} releases={releases} />
          <span aria-hidden="true">→</span>
          <Choice label="To" name="to" value={to} releases={releases} />
        </>
      }
    >
      <Loaded from={compared}>
        {({ changes }) =>
          changes.length === 0 ? (
            <Empty title={`Nothing differs between v${from} and v${to}`} icon="done" />
          ) : (
            <Table
              label={`Changes from v${from} to v${to}`}
              columns={['What', 'Part', 'Change', `v${from}`, `v${to}`]}
              rows={changes.map((change) => ({
                key: `${change.part} ${change.name}`,
                cells: [
                  <code>{change.name}</code>,
                  change.part,
                  <Status
                    state={change.kind}
                    mood={change.kind === 'added' ? 'good' : change.kind === 'removed' ? 'bad' : 'wait'}
                  />,
                  <Value change={change} text={change.before} isThere={change.kind !== 'added'} />,
                  <Value change={change} text={change.after} isThere={change.kind !== 'removed'} />,
                ],
              }))}
            />
          )
        }
      </Loaded>
    </Card>
  );
}

function Value({ change, text, isThere }: { change: Change; text: string; isThere: boolean }) {
  if (!isThere) return <span class="muted">none</span>;
  return change.private ? <span class="tag">private</span> : <code class="break">{text}</code>;
}

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly releases: readonly Release[];
}

function Choice({ label, name, value, releases }: ChoiceProps) {
  return (
    <label>
      <span class="unseen">{label}</span>
      <select value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        {releases.map(({ release, reason, current }) => (
          <option key={release} value={String(release)}>
            v{release} ({reason}
            {current && ', serves'})
          </option>
        ))}
      </select>
    </label>
  );
}

function ReleaseTable({ app, releases }: { app: string; releases: readonly Release[] }) {
  return (
    <Card title="Releases" isPlain>
      <Table
        label="Releases"
        columns={['Release', 'Why', 'Made', 'By', 'Code']}
        rows={releases.map(({ release, reason, current, created_at: made, by, commit, image, deploy }) => ({
          key: String(release),
          cells: [
            <span class="row tight">
              {`v${release}`} {current && <Status state="serves" mood="good" />}
            </span>,
            reason,
            <Time at={made} />,
            by,
            <span class="mono small">{image === '' ? commit.slice(0, 10) : image}</span>,
          ],
          actions: (
            <>
              {deploy !== '' && (
                <a class="button little" href={BASE + at('apps', app, 'deploys', deploy)}>
                  Deploy <span class="unseen">of v{release}</span>
                </a>
              )}
              {release > 1 && (
                <button
                  type="button"
                  class="button little"
                  onClick={() => setQuery({ from: '', to: String(release) }, false)}
                >
                  What changed <span class="unseen">with v{release}</span>
                </button>
              )}
            </>
          ),
        }))}
      />
    </Card>
  );
}
