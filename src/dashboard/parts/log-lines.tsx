/** The lines of a log: only those in sight are there, however many are held. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { LogEntry } from '../api/operations.ts';
import { exact } from '../data/format.ts';
import type { LogStream } from '../data/log-stream.ts';
import { Dialog } from './dialog.tsx';
import { attempt } from './toasts.tsx';

const ROW = 20;
const BEYOND = 10;
/** So near to the end counts as the end. */
const NEAR = 30;
/** Older lines are asked for before the first one is reached. */
const TOP = 200;
// Colours and cursor movements of terminals.
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007]*\u0007|[@-_])/g;

interface LogLinesProps {
  readonly stream: LogStream;
  readonly isFollowing: boolean;
  readonly onFollow: (isFollowing: boolean) => void;
  /** Shown with emphasis; '' for nothing. */
  readonly search: string;
}

export function LogLines({ stream, isFollowing, onFollow, search }: LogLinesProps) {
  const box = useRef<HTMLDivElement>(null);
  const [, redraw] = useState(0);
  const [opened, setOpened] = useState<LogEntry | null>(null);
  const { buffer } = stream;
  const version = stream.version.value;
  const dropped = useRef(buffer.dropped);
  const isMovedByUs = useRef(false);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const moved = buffer.dropped - dropped.current;
    dropped.current = buffer.dropped;
    const top = isFollowing ? element.scrollHeight : element.scrollTop - moved * ROW;
    if (!isFollowing && moved === 0) return;
    isMovedByUs.current = true;
    element.scrollTop = top;
    redraw((count) => count + 1);
  }, [version, isFollowing]);

  useEffect(() => {
    const observer = new ResizeObserver(() => redraw((count) => count + 1));
    if (box.current !== null) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);

  const scrolled = (): void => {
    const element = box.current;
    if (element === null) return;
    redraw((count) => count + 1);
    if (isMovedByUs.current) {
      isMovedByUs.current = false;
      return;
    }
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
    if (isAtEnd !== isFollowing) onFollow(isAtEnd);
    if (element.scrollTop < TOP) void attempt(() => stream.loadOlder());
  };

  const { scrollTop = 0, clientHeight = 600 } = box.current ?? {};
  const from = Math.max(0, Math.min(Math.floor(scrollTop / ROW), buffer.length) - BEYOND);
  const to = Math.min(buffer.length, from + Math.ceil(clientHeight / ROW) + 2 * BEYOND);
  return (
    <>
      <div ref={box} class="log" role="log" aria-live="off" aria-label="Log" tabIndex={0} onScroll={scrolled}>
        <div class="log-all" style={{ height: `${buffer.length * ROW}px` }}>
          <div class="log-seen" style={{ transform: `translateY(${from * ROW}px)` }}>
            {buffer.slice(from, to).map((entry) => (
              <Line entry={entry} search={search} onOpen={setOpened} />
            ))}
          </div>
        </div>
      </div>
      {opened !== null && <Opened entry={opened} onClose={() => setOpened(null)} />}
    </>
  );
}

function Line({ entry, search, onOpen }: { entry: LogEntry; search: string; onOpen: (entry: LogEntry) => void }) {
  const isOwn = entry.Source === 'tancho';
  return (
    <div class={`line ${isOwn ? 'own' : ''}`} onDblClick={() => onOpen(entry)}>
      <span class="when">{entry.Date.slice(11, 23)}</span>
      <span class="who">{isOwn ? 'platform' : entry.Unit || entry.Source}</span>
      <span class="what">{marked(entry.Message.replace(ESCAPES, ''), search)}</span>
    </div>
  );
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
        <dt>Unit</dt>
        <dd>{entry.Unit}</dd>
      </dl>
      <pre class="output" tabIndex={0} aria-label="Message">
        {readable(entry.Message)}
      </pre>
      <div class="buttons">
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

/** JSON is laid out. */
function readable(message: string): string {
  if (!message.startsWith('{')) return message.replace(ESCAPES, '');
  try {
    return JSON.stringify(JSON.parse(message), null, 2);
  } catch {
    return message;
  }
}
