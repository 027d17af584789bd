import { perform } from '../api/call.ts';
import { useState } from 'preact/hooks';
import { Card, Empty } from '../parts/content.tsx';
import { Field, Form } from '../parts/form.tsx';
import type { Params } from '../routing/screens.ts';
import { AppFrame, useApp } from './app-frame.tsx';

const MOST_CHARACTERS = 200_000;

/** A command beside the units, with their code and environment. */
export default function AppTerminal({ params: { app: name = '' } }: { params: Params }) {
  const app = useApp(name);
  return (
    <AppFrame app={app} name={name}>
      {(value) =>
        value.State === 'created' ? (
          <Empty title="Nothing was deployed yet" icon="terminal" />
        ) : (
          <>
            <Run app={name} />
          </>
        )
      }
    </AppFrame>
  );
}

function Run({ app }: { app: string }) {
  const [output, setOutput] = useState('');
  const run = async ({ command = '' }: Record<string, string>): Promise<void> => {
    setOutput(`$ ${command}\n`);
    await perform('POST /apps/{app}/run', (said) => setOutput((before) => (before + said).slice(-MOST_CHARACTERS)), {
      params: { app },
      body: command,
    });
  };
  return (
    <Card title="Run a command">
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
        {output !== '' && (
          <pre class="output tall" tabIndex={0} role="log" aria-label="Output of the command">
            {output}
          </pre>
        )}
      </div>
    </Card>
  );
}
