/** The lines of a log: only those in sight are there, however many are held. */
import { useState } from 'preact/hooks';
import type { LogEntry } from '../api/operations.ts';
import { clock, exact } from '../data/format.ts';
import { logAt } from '../data/happenings.ts';
import { BASE } from '../routing/location.ts';
import { Dialog } from './dialog.tsx';
import { type LogScrollProps, ROW, useLogScroll } from './log-scroll.ts';

const BEYOND = 10;
/** Before and after a line that was found. */
const AROUND_MS = 60_000;
// Colours and cursor movements of terminals.
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-_])/g;

interface LogLinesProps extends LogScrollProps {
  /** Shown with emphasis; '' for nothing. */
  readonly search: string;
}

const STEPS: Readonly<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1 };

export function LogLines({ search, ...rest }: LogLinesProps) {
  const { buffer } = rest.stream;
  const { box, current, choose, step, onScroll } = useLogScroll(rest);
  const [opened, setOpened] = useState<LogEntry | null>(null);
  const [chosen] = current === null ? [] : buffer.slice(current, current + 1);
  const pressed = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = STEPS[event.key];
    if (event.key === 'Enter' && chosen !== undefined) setOpened(chosen);
    if (by === undefined) return;
    event.preventDefault();
    step(by);
  };

  const { scrollTop = 0, clientHeight = 600 } = box.current ?? {};
  const from = Math.max(0, Math.min(Math.floor(scrollTop / ROW), buffer.length) - BEYOND);
  const to = Math.min(buffer.length, from + Math.ceil(clientHeight / ROW) + 2 * BEYOND);
  return (
    <>
      <div
        ref={box}
        class="log"
        role="log"
        aria-live="off"
        aria-label="Log"
        tabIndex={0}
        onScroll={onScroll}
        onKeyDown={pressed}
      >
        <div class="log-all" style={{ height: `${buffer.length * ROW}px` }}>
          <div class="log-seen" style={{ transform: `translateY(${from * ROW}px)` }}>
            {buffer.slice(from, to).map((entry, index) => (
              <Line
                entry={entry}
                search={search}
                isCurrent={from + index === current}
                onChoose={() => choose(from + index)}
                onOpen={setOpened}
              />
            ))}
          </div>
        </div>
      </div>
      <p class="unseen" role="status">
        {chosen !== undefined && plain(chosen.Message)}
      </p>
      {opened !== null && <Opened entry={opened} onClose={() => setOpened(null)} />}
    </>
  );
}

interface LineProps {
  readonly entry: LogEntry;
  readonly search: string;
  readonly isCurrent: boolean;
  readonly onChoose: () => void;
  readonly onOpen: (entry: LogEntry) => void;
}

function Line({ entry, search, isCurrent, onChoose, onOpen }: LineProps) {
  const isOwn = entry.Source === 'tancho';
  return (
    <div
      class={`line ${isOwn ? 'own' : ''} ${isCurrent ? 'current' : ''}`}
      onClick={onChoose}
      onDblClick={() => onOpen(entry)}
    >
      <span class="when">{clock(entry.Date)}</span>
      <span class="who">{isOwn ? 'platform' : entry.Unit || entry.Source}</span>
      <span class="what">{marked(plain(entry.Message), search)}</span>
    </div>
  );
}

/** What a terminal would show in the end: of a progress bar, which returns to the beginning of its line, the last state. */
function plain(message: string): string {
  return message
    .replace(ESCAPES, '')
    .trimEnd()
    .replace(/^[^]*\r/, '');
}

/** Where the text is found. */
function marked(text: string, search: string) {
  if (search === '') return text;
  const at = text.toLowerCase().indexOf(search.toLowerCase());
  if (at < 0) return text;
  const end = at + search.length;
  return [text.slice(0, at), <mark key="found">{text.slice(at, end)}</mark>, text.slice(end)];
}

function Opened({ entry, onClose }: { entry: LogEntry; onClose: () => void }) {
  return (
    <Dialog title="One line" isWide onClose={onClose}>
      <dl class="facts">
        <dt>Time</dt>
        <dd>
          {exact(entry.Date)} ({entry.Date})
        </dd>
        <dt>Source</dt>
        <dd>{entry.Source}</dd>
        {entry.Unit !== '' && (
          <>
            <dt>Unit</dt>
            <dd>{entry.Unit}</dd>
          </>
        )}
      </dl>
      <pre class="output" tabIndex={0} aria-label="Message">
        {readable(entry.Message)}
      </pre>
      <div class="buttons">
        <a class="button" href={around(entry)} onClick={onClose}>
          What was around it
        </a>
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function around({ AppName, Date: date }: LogEntry): string {
  const atMs = Date.parse(date);
  return BASE + logAt(AppName, { fromMs: atMs - AROUND_MS, toMs: atMs + AROUND_MS });
}

/** JSON is laid out. */
function readable(message: string): string {
  if (!message.startsWith('{')) return plain(message);
  try {
    return JSON.stringify(JSON.parse(message), null, 2);
  } catch {
    return message;
  }
}
