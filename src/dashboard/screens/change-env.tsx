import { useState } from 'preact/hooks';
import { begin } from '../api/call.ts';
import type { App, EnvVar } from '../api/operations.ts';
import { problemOf } from '../api/problem.ts';
import { changesOf, readEnvFile } from '../data/env-file.ts';
import { plural } from '../data/format.ts';
import { Note } from '../parts/content.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Area, Checkbox, Form } from '../parts/form.tsx';
import { Restarts } from '../parts/restarts.tsx';
import { runTask } from '../parts/tasks.tsx';

interface ChangeEnvProps {
  readonly app: App;
  readonly vars: readonly EnvVar[];
  /** Of the variable to change; '' for new ones. */
  readonly name: string;
  readonly onClose: () => void;
}

/** Many at once, as a `.env` file; what that changes and what it restarts is said before it is sent. */
export function ChangeEnv({ app, vars, name, onClose }: ChangeEnvProps) {
  const before = vars.find((one) => one.name === name);
  const [text, setText] = useState(before === undefined ? '' : `${name}=${before.public ? quoted(before.value) : ''}`);
  const [isLater, setLater] = useState(false);
  const [chosen, setChosen] = useState<boolean | null>(null);
  const read = readOrProblem(text);
  const wanted = read instanceof Map ? read : new Map<string, string>();
  // What one of them was is what all become, unless the viewer says otherwise.
  const isPrivate = chosen ?? vars.some((one) => !one.public && (one.name === name || wanted.has(one.name)));
  const effective = changesOf(vars, wanted, !isPrivate).filter(({ kind }) => kind !== 'same');
  const send = async (): Promise<void> => {
    // Says what is wrong with the text.
    const values = Object.fromEntries(readEnvFile(text));
    const query = { private: isPrivate, noRestart: isLater };
    const work = await begin('POST /apps/{app}/env', { params: { app: app.Name }, query, body: values });
    void runTask(`Set ${plural(Object.keys(values).length, 'variable')} of ${app.Name}`, work);
    onClose();
  };
  return (
    <Dialog title={before === undefined ? 'Set variables' : `Change ${name}`} isWide onClose={onClose}>
      <Form action={`Set ${plural(effective.length, 'variable')}`} onSubmit={send} onCancel={onClose}>
        <Area
          label="Variables"
          name="text"
          class="mono"
          rows={8}
          required
          placeholder={'DATABASE_URL=postgres://…\nGREETING="hello"'}
          help="One NAME=VALUE per line, or a whole .env file."
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <Checkbox
          label="Private: hidden here, sealed on the disk and replaced in every log"
          name="isPrivate"
          isSet={isPrivate}
          onChange={setChosen}
        />
        <Checkbox label="Without a restart: it counts from the next one on" name="isLater" onChange={setLater} />
        {effective.length > 0 && (
          <ul class="changes" aria-label="What changes">
            {effective.map(({ name: one, kind }) => (
              <li key={one}>
                <span class="tag">{kind}</span> <code>{one}</code>
              </li>
            ))}
          </ul>
        )}
        <Note mood="idle">
          <Restarts app={app.Name} isLater={isLater} />
        </Note>
      </Form>
    </Dialog>
  );
}

function readOrProblem(text: string): Map<string, string> | string {
  try {
    return readEnvFile(text);
  } catch (thrown) {
    return problemOf(thrown).message;
  }
}

function quoted(value: string): string {
  return /[\r\n"\\#]|^['\s]|\s$/.test(value) ? JSON.stringify(value) : value;
}
