import { call } from '../api/call.ts';
import type { PlatformEvent } from '../api/operations.ts';
import { useResource } from '../data/resource.ts';
import { Card, Empty, Head, Loaded, Time } from '../parts/content.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { at, BASE, query, setQuery } from '../routing/location.ts';

const AT_ONCE = 100;

/** Who did what, and who was refused what. */
export default function Audit() {
  const value = (name: string): string => query.value.get(name) ?? '';
  const [app, action, who, errors] = [value('app'), value('action'), value('who'), value('errors')];
  const skip = Number(value('skip')) || 0;
  const events = useResource(`events ${[app, action, who, errors, skip].join(' ')}`, (signal) =>
    call('GET /events', {
      query: { 'target.value': app, kindname: action, ownername: who, erroronly: errors === '1', limit: AT_ONCE, skip },
      signal,
    }),
  );
  const filter = (name: string, label: string) => (
    <label class="grow">
      <span class="unseen">{label}</span>
      <input
        type="search"
        placeholder={label}
        value={value(name)}
        onChange={(event) => setQuery({ [name]: event.currentTarget.value.trim(), skip: '' })}
      />
    </label>
  );
  return (
    <>
      <Head title="Audit" />
      <div class="row" role="search">
        {filter('app', 'App')}
        {filter('action', 'Action, such as app.restart')}
        {filter('who', 'Who')}
        <label class="check">
          <input
            type="checkbox"
            checked={errors === '1'}
            onChange={(event) => setQuery({ errors: event.currentTarget.checked ? '1' : '', skip: '' })}
          />
          Only what failed
        </label>
      </div>
      <Card isPlain>
        <Loaded from={events}>
          {(list) => (
            <>
              {list.length === 0 ? <Empty title="Nothing like that happened" icon="audit" /> : <Events events={list} />}
              <nav class="row between pages" aria-label="Pages">
                <button
                  type="button"
                  class="button little"
                  disabled={skip === 0}
                  onClick={() => setQuery({ skip: skip <= AT_ONCE ? '' : String(skip - AT_ONCE) })}
                >
                  Newer
                </button>
                <button
                  type="button"
                  class="button little"
                  disabled={list.length < AT_ONCE}
                  onClick={() => setQuery({ skip: String(skip + AT_ONCE) })}
                >
                  Older
                </button>
              </nav>
            </>
          )}
        </Loaded>
      </Card>
    </>
  );
}

function Events({ events }: { events: readonly PlatformEvent[] }) {
  return (
    <Table
      label="Events"
      columns={['When', 'Who', 'What', 'On', 'Outcome', 'From']}
      rows={events.map((event) => ({
        key: event.UniqueID,
        cells: [
          <a href={BASE + at('audit', event.UniqueID)}>
            <Time at={event.StartTime} />
          </a>,
          event.Owner.Name,
          <span class="stack dense">
            <code>{event.Kind.Name}</code>
            {event.Log !== '' && <span class="muted small">{event.Log}</span>}
          </span>,
          `${event.Target.Type} ${event.Target.Value}`,
          <Outcome event={event} />,
          event.SourceIP,
        ],
      }))}
    />
  );
}

export function Outcome({ event }: { event: PlatformEvent }) {
  if (event.Refused) return <Status state="refused" label={`refused: ${event.Error}`} />;
  if (event.Error !== '') return <Status state="failed" label={event.Error} />;
  return event.Running ? <Status state="at work" /> : <Status state="done" />;
}
