import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { App } from '../api/operations.ts';
import { exact, plural } from '../data/format.ts';
import { localTime, utcTime } from '../data/local-time.ts';
import { type LogFilter, LogStream } from '../data/log-stream.ts';
import { ProblemNote } from '../parts/content.tsx';
import { Icon } from '../parts/icon.tsx';
import { LogLines } from '../parts/log-lines.tsx';
import { type Mood, Status } from '../parts/status.tsx';
import { query, setQuery } from '../routing/location.ts';
import type { Params } from '../routing/screens.ts';
import { AppFrame, useApp } from './app-frame.tsx';

const FILTERS = ['unit', 'process', 'source', 'deploy', 'search', 'regexp', 'since', 'until'] as const;
const TYPING_MS = 350;
const MANY = 1_000;

export default function AppLog({ params: { app: name = '' } }: { params: Params }) {
  const app = useApp(name);
  return (
    <AppFrame app={app} name={name}>
      {(value) => <Log app={value} />}
    </AppFrame>
  );
}

function Log({ app }: { app: App }) {
  const filter = Object.fromEntries(
    FILTERS.map((name) => [name, query.value.get(name) ?? '']).filter(([, value]) => value !== ''),
  ) as LogFilter;
  const key = JSON.stringify(filter);
  const stream = useMemo(() => new LogStream(app.Name, filter), [app.Name, key]);
  const [isFollowing, setFollowing] = useState(true);
  useEffect(() => {
    setFollowing(true);
    return stream.start();
  }, [stream]);
  stream.isPaused = !isFollowing;
  const follow = (isWanted: boolean): void => {
    if (isWanted) stream.toEnd();
    setFollowing(isWanted);
  };
  const problem = stream.problem.value;
  return (
    <>
      <Filters app={app} filter={filter} />
      {problem !== null && <ProblemNote problem={problem} />}
      <section class="card log-card" aria-label="Log of the app">
        <header>
          <StreamState stream={stream} isFollowing={isFollowing} />
          <div class="row tight">
            {filter.until === undefined ? (
              <button
                type="button"
                class="button little"
                aria-pressed={isFollowing}
                onClick={() => follow(!isFollowing)}
              >
                <Icon name={isFollowing ? 'pause' : 'play'} /> {isFollowing ? 'Pause' : 'Follow'}
              </button>
            ) : (
              <button type="button" class="button little" onClick={() => setQuery({ since: '', until: '' })}>
                <Icon name="play" /> Now
              </button>
            )}
          </div>
        </header>
        <LogLines
          stream={stream}
          isFollowing={isFollowing}
          onFollow={follow}
          search={filter.regexp === '1' ? '' : (filter.search ?? '')}
        />
      </section>
      <p class="muted small">
        A double click opens a line, and so does <kbd>Enter</kbd> where <kbd>↑</kbd> <kbd>↓</kbd> have led. Older lines
        come as you scroll up. Times are those of this browser.
      </p>
    </>
  );
}

function StreamState({ stream, isFollowing }: { stream: LogStream; isFollowing: boolean }) {
  const state = stream.state.value;
  void stream.version.value;
  const { length } = stream.buffer;
  const words = {
    connecting: 'Connecting …',
    live: isFollowing ? 'Live' : 'Paused here; new lines are kept below',
    past: 'As it was then',
    behind: 'Paused here; newer lines come as you scroll down',
    lost: 'Connection lost; it goes on after the last line, without a gap',
  };
  const moods: Readonly<Record<typeof state, Mood>> = {
    connecting: 'wait',
    live: 'good',
    past: 'idle',
    behind: 'idle',
    lost: 'wait',
  };
  return (
    <div class="row" role="status">
      <Status state={state} label={words[state]} mood={moods[state]} />
      <span class="muted small">
        {length < MANY || state === 'past' ? plural(length, 'line') : `${length.toLocaleString('en')} lines held`}
      </span>
    </div>
  );
}

function Filters({ app, filter }: { app: App; filter: LogFilter }) {
  const units = [...new Set([...app.Units.map(({ Name }) => Name), ...(filter.unit ? [filter.unit] : [])])];
  return (
    <div class="row" role="search">
      <Search filter={filter} />
      <label class="check">
        <input
          type="checkbox"
          checked={filter.regexp === '1'}
          onChange={(event) => setQuery({ regexp: event.currentTarget.checked ? '1' : '' })}
        />
        Regular expression
      </label>
      <Select label="Source" name="source" value={filter.source} options={sourcesOf(app, filter)} />
      <Select
        label="Unit"
        name="unit"
        value={filter.unit}
        options={{ '': 'All units', ...Object.fromEntries(units.map((one) => [one, one])) }}
      />
      <label class="row tight">
        <span class="muted small">Up to</span>
        <input
          type="datetime-local"
          value={localTime(filter.until ?? '')}
          onChange={(event) => setQuery({ since: '', until: utcTime(event.currentTarget.value) })}
        />
      </label>
      {(filter.since !== undefined || filter.until !== undefined) && (
        <button type="button" class="button little" onClick={() => setQuery({ since: '', until: '' })}>
          {partOfTime(filter)} <Icon name="close" />
        </button>
      )}
      {filter.process !== undefined && (
        <button type="button" class="button little" onClick={() => setQuery({ process: '' })}>
          Units of {filter.process} only <Icon name="close" />
        </button>
      )}
      {filter.deploy !== undefined && (
        <button type="button" class="button little" onClick={() => setQuery({ deploy: '' })}>
          Of one deploy only <Icon name="close" />
        </button>
      )}
    </div>
  );
}

/** What units print has the name of their process as its source. */
function sourcesOf(app: App, { source = '' }: LogFilter): Record<string, string> {
  const processes = [...new Set(app.Units.map(({ ProcessName }) => ProcessName))].sort();
  const known = {
    '': 'App and platform',
    ...Object.fromEntries(processes.map((name) => [name, `${name} only`])),
    ...{ release: 'Release commands', hook: 'Hooks', tancho: 'The platform only' },
  };
  return source in known ? known : { ...known, [source]: `${source} only` };
}

function partOfTime({ since, until }: LogFilter): string {
  if (until === undefined) return `Since ${exact(since ?? '')}`;
  return since === undefined ? `Until ${exact(until)}` : `${exact(since)} to ${exact(until)}`;
}

function Search({ filter }: { filter: LogFilter }) {
  const asked = filter.search ?? '';
  const [typed, setTyped] = useState(asked);
  const sent = useRef(asked);
  useEffect(() => {
    if (typed === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = typed;
      setQuery({ search: typed });
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  // A link, or the way back, has changed it.
  useEffect(() => {
    if (asked === sent.current) return;
    sent.current = asked;
    setTyped(asked);
  }, [asked]);
  return (
    <label class="grow">
      <span class="unseen">Search the log</span>
      <input
        type="search"
        id="search"
        placeholder="Search the log"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </label>
  );
}

function Select({
  label,
  name,
  value = '',
  options,
}: {
  label: string;
  name: string;
  value: string | undefined;
  options: Record<string, string>;
}) {
  return (
    <label>
      <span class="unseen">{label}</span>
      <select value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        {Object.entries(options).map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
