import { call } from '../api/call.ts';
import type { PlatformEvent } from '../api/operations.ts';
import { localTime, utcTime } from '../data/local-time.ts';
import { useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, copyText, Empty, Head, Loaded, Time } from '../parts/content.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { at, BASE, query, setQuery } from '../routing/location.ts';

const AT_ONCE = 100;
/** As the address and the API have it. */
const SPANS: Readonly<Record<string, string>> = {
  '': 'Any time',
  '1h': 'The last hour',
  '24h': 'The last day',
  '7d': 'The last week',
  '30d': 'The last 30 days',
};

/** Who did what, and who was refused what. */
export default function Audit() {
  const value = (name: string): string => query.value.get(name) ?? '';
  const [app, action, who, errors] = [value('app'), value('action'), value('who'), value('errors')];
  const [since, until] = [value('since'), value('until')];
  const skip = Number(value('skip')) || 0;
  const asked = { 'target.value': app, kindname: action, ownername: who, erroronly: errors === '1', since, until };
  const events = useResource(`events ${JSON.stringify(asked)} ${skip}`, (signal) =>
    call('GET /events', { query: { ...asked, limit: AT_ONCE, skip }, signal }),
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
      <Head title="Audit">
        <ActButton work={() => copyText(sharedLink())} done="The link is copied: it shows this very part of time.">
          Copy a link
        </ActButton>
      </Head>
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
        <Period since={since} until={until} />
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

/** The last while, or from one moment to another. */
function Period({ since, until }: { since: string; until: string }) {
  const moment = (name: 'since' | 'until', label: string, value: string) => (
    <label class="row tight">
      <span class="muted small">{label}</span>
      <input
        type="datetime-local"
        aria-label={label}
        value={localTime(value)}
        onChange={(event) => setQuery({ [name]: utcTime(event.currentTarget.value), skip: '' })}
      />
    </label>
  );
  return (
    <>
      <label>
        <span class="unseen">Time</span>
        <select
          value={Object.hasOwn(SPANS, since) && until === '' ? since : 'part'}
          onChange={(event) => setQuery({ since: event.currentTarget.value, until: '', skip: '' })}
        >
          {Object.entries(SPANS).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
          <option value="part" disabled>
            From … to …
          </option>
        </select>
      </label>
      {moment('since', 'From', since)}
      {moment('until', 'To', until)}
    </>
  );
}

const AGO_MS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 };

/** Of this page, with moments in place of how long ago: who follows it tomorrow sees the same. */
function sharedLink(): string {
  const url = new URL(location.href);
  const [, count, unit = ''] = /^(\d+)([hd])$/.exec(url.searchParams.get('since') ?? '') ?? [];
  const now = Date.now();
  if (count !== undefined) {
    url.searchParams.set('since', new Date(now - Number(count) * (AGO_MS[unit] ?? 0)).toISOString());
  }
  if (url.searchParams.get('until') === null) url.searchParams.set('until', new Date(now).toISOString());
  return url.href;
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
            {event.Log !== '' && <span class="muted small break">{event.Log}</span>}
          </span>,
          `${event.Target.Type} ${event.Target.Value}`,
          <EventOutcome event={event} />,
          event.SourceIP,
        ],
      }))}
    />
  );
}

export function EventOutcome({ event }: { event: PlatformEvent }) {
  if (event.Refused || event.Error !== '') {
    return (
      <span class="stack dense">
        <span>
          <Status state={event.Refused ? 'refused' : 'failed'} />
        </span>
        <span class="small">{event.Error}</span>
      </span>
    );
  }
  return event.Running ? <Status state="at work" /> : <Status state="done" />;
}
