import type { Terminal as Xterm } from '@xterm/xterm';
import { useEffect, useRef, useState } from 'preact/hooks';
import { perform } from '../api/call.ts';
import { Card, Empty } from '../parts/content.tsx';
import { Field, Form } from '../parts/form.tsx';
import { Terminal } from '../parts/terminal.tsx';
import type { Params } from '../routing/screens.ts';
import { AppFrame, useApp } from './app-frame.tsx';
import { AppShell } from './app-shell.tsx';

/** Shells and commands beside the units, with their code and environment. */
export default function AppTerminal({ params: { app: name = '' } }: { params: Params }) {
  const app = useApp(name);
  return (
    <AppFrame app={app} name={name}>
      {(value) =>
        value.State === 'created' ? (
          <div class="card">
            <Empty title="Nothing was deployed yet" icon="terminal">
              <p>Shells and commands run with the code of the app.</p>
            </Empty>
          </div>
        ) : (
          <>
            <AppShell app={value} />
            <Run app={name} />
          </>
        )
      }
    </AppFrame>
  );
}

function Run({ app }: { app: string }) {
  /** Grows with each command; 0 before the first. */
  const [count, setCount] = useState(0);
  const [running, setRunning] = useState<AbortController | null>(null);
  const shown = useRef<Xterm | null>(null);
  const early = useRef('');
  const write = (text: string): void => {
    if (shown.current === null) early.current += text;
    else shown.current.write(text);
  };
  useEffect(() => () => running?.abort(), [running]);
  const run = async ({ command = '' }: Record<string, string>): Promise<void> => {
    const stop = new AbortController();
    shown.current = null;
    early.current = `$ ${command}\n`;
    setCount(count + 1);
    setRunning(stop);
    try {
      const asked = { params: { app }, query: { once: true }, body: command, signal: stop.signal };
      await perform('POST /apps/{app}/run', write, asked);
    } catch (thrown) {
      if (!stop.signal.aborted) throw thrown;
      write('\n(stopped)\n');
    } finally {
      setRunning(null);
    }
  };
  const ready = (terminal: Xterm): (() => void) => {
    terminal.write(early.current);
    shown.current = terminal;
    return () => {
      if (shown.current === terminal) shown.current = null;
    };
  };
  return (
    <Card
      title="Run a command"
      actions={
        running !== null && (
          <button type="button" class="button little" onClick={() => running.abort()}>
            Stop the command
          </button>
        )
      }
    >
      <div class="stack">
        <Form action="Run" onSubmit={run}>
          <Field
            label="Command"
            name="command"
            class="mono"
            required
            placeholder="node -v"
            help="It runs beside the units, with the code, the environment and the limits of the app."
          />
        </Form>
        {count > 0 && <Terminal key={count} label="Output of the command" onReady={ready} isTyped={false} />}
      </div>
    </Card>
  );
}
