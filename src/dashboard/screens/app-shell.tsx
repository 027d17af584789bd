import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import type { Terminal as Xterm } from '@xterm/xterm';
import type { App } from '../api/operations.ts';
import { openShell, type ShellEnd } from '../api/shell.ts';
import { Card, Note, ProblemNote } from '../parts/content.tsx';
import { Status } from '../parts/status.tsx';
import { Terminal } from '../parts/terminal.tsx';
import { query, setQuery } from '../routing/location.ts';

type State = 'opening' | 'open' | ShellEnd;

/** A shell beside the units of an app, for as long as somebody looks at it. */
export function AppShell({ app }: { app: App }) {
  /** Grows with each shell; 0 before the first. */
  const [count, setCount] = useState(0);
  const [state, setState] = useState<State>('opening');
  const action = useRef<HTMLButtonElement>(null);
  const unit = query.value.get('unit') ?? '';
  const isOver = count > 0 && typeof state === 'object';
  const isOpen = count > 0 && !isOver;
  const begin = (): void => {
    setState('opening');
    setCount(count + 1);
  };
  const leave = useCallback(() => action.current?.focus(), []);
  return (
    <Card
      title="Shell"
      actions={
        <>
          {count > 0 && <ShellState state={state} />}
          <UnitChoice app={app} unit={unit} isDisabled={isOpen} />
          {isOpen ? (
            <button type="button" ref={action} class="button little" onClick={() => setCount(0)}>
              End
            </button>
          ) : (
            <button type="button" ref={action} class="button little" onClick={begin}>
              {isOver ? 'Open another' : 'Open a shell'}
            </button>
          )}
        </>
      }
    >
      <div class="stack">
        {typeof state === 'object' && state.kind === 'cut' && <Cut end={state} />}
        {count === 0 ? (
          <p class="muted">
            It runs beside the units, with the code, the environment and the limits of the app. It ends when you leave
            this page, and after half an hour of silence.
          </p>
        ) : (
          <Session key={count} app={app.Name} unit={unit} onState={setState} onLeave={leave} />
        )}
        {isOpen && (
          <p class="muted small">
            <kbd>F6</kbd> leaves the terminal by keyboard. <kbd>Ctrl C</kbd> copies while something is selected.
          </p>
        )}
      </div>
    </Card>
  );
}

function UnitChoice({ app, unit, isDisabled }: { app: App; unit: string; isDisabled: boolean }) {
  const units = useMemo(
    () => [...new Set([...app.Units.map(({ Name }) => Name), ...(unit === '' ? [] : [unit])])],
    [app.Units, unit],
  );
  return (
    <label>
      <span class="unseen">Beside which unit</span>
      <select value={unit} disabled={isDisabled} onChange={(event) => setQuery({ unit: event.currentTarget.value })}>
        <option value="">Beside any unit</option>
        {units.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function ShellState({ state }: { state: State }) {
  if (state === 'opening') return <Status state="opening" />;
  if (state === 'open') return <Status state="open" mood="good" />;
  if (state.kind === 'cut') return <Status state="cut off" mood="bad" />;
  return <Status state={`ended with ${state.code}`} mood={state.code === 0 ? 'idle' : 'bad'} />;
}

function Cut({ end }: { end: ShellEnd & { kind: 'cut' } }) {
  if (end.problem !== null) return <ProblemNote problem={end.problem} />;
  return (
    <Note mood="wait">
      <span>The connection was cut, and the shell has ended with it. What it printed stays here.</span>
    </Note>
  );
}

interface SessionProps {
  readonly app: string;
  readonly unit: string;
  readonly onState: (state: State) => void;
  readonly onLeave: () => void;
}

function Session({ app, unit, onState, onLeave }: SessionProps) {
  const ready = (terminal: Xterm): (() => void) => {
    const shell = openShell({
      app,
      unit,
      columns: terminal.cols,
      rows: terminal.rows,
      output: (bytes, taken) => terminal.write(bytes, taken),
    });
    terminal.onData((typed) => shell.write(typed));
    terminal.onBinary((typed) => shell.write(Uint8Array.from(typed, (character) => character.charCodeAt(0))));
    terminal.onResize(({ cols, rows }) => shell.resize(cols, rows));
    terminal.attachCustomKeyEventHandler((event) => isForShell(event, terminal, onLeave));
    terminal.focus();
    let isLeft = false;
    void shell.begun.then(() => {
      if (isLeft) return;
      onState('open');
      // It may have got another size while it was opened.
      shell.resize(terminal.cols, terminal.rows);
    });
    void shell.ended.then((end) => {
      if (isLeft) return;
      terminal.options.disableStdin = true;
      onState(end);
    });
    return () => {
      isLeft = true;
      shell.close();
    };
  };
  return <Terminal label={`Shell in ${app}`} onReady={ready} />;
}

/** All keys are the shell's, but those by which one gets out and by which one copies. */
function isForShell(event: KeyboardEvent, terminal: Xterm, onLeave: () => void): boolean {
  if (event.key === 'F6') {
    event.preventDefault();
    if (event.type === 'keydown') onLeave();
    return false;
  }
  // The browser copies what is selected.
  return !(event.key.toLowerCase() === 'c' && event.ctrlKey && terminal.hasSelection());
}
