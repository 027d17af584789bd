import { useState } from 'preact/hooks';
import { call, perform } from '../api/call.ts';
import type { App, EnvVar } from '../api/operations.ts';
import { useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Empty, Loaded } from '../parts/content.tsx';
import { Icon } from '../parts/icon.tsx';
import { Restarts } from '../parts/restarts.tsx';
import { at, BASE } from '../routing/location.ts';
import type { Params } from '../routing/screens.ts';
import { AppFrame, useApp } from './app-frame.tsx';
import { ChangeEnv } from './change-env.tsx';

export default function AppEnv({ params: { app: name = '' } }: { params: Params }) {
  const app = useApp(name);
  const env = useResource(`env ${name}`, (signal) => call('GET /apps/{app}/env', { params: { app: name }, signal }));
  return (
    <AppFrame app={app} name={name}>
      {(value) => (
        <Loaded from={env}>{(vars) => <Variables app={value} vars={vars} changed={() => void env.refresh()} />}</Loaded>
      )}
    </AppFrame>
  );
}

/** Null: nothing is being changed; a name: that one; '': new ones. */
type Editing = string | null;

function Variables({ app, vars, changed }: { app: App; vars: readonly EnvVar[]; changed: () => void }) {
  const [editing, setEditing] = useState<Editing>(null);
  const [wanted, setWanted] = useState('');
  const found = vars.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()));
  return (
    <>
      <Card
        title="Environment"
        isPlain
        actions={
          <>
            {vars.length > 8 && (
              <label>
                <span class="unseen">Search variables</span>
                <input
                  type="search"
                  id="search"
                  placeholder="Search"
                  value={wanted}
                  onInput={(event) => setWanted(event.currentTarget.value)}
                />
              </label>
            )}
            <button type="button" class="button" onClick={() => setEditing('')}>
              <Icon name="plus" /> Set variables
            </button>
          </>
        }
      >
        {vars.length === 0 ? (
          <Empty title="No variables yet" icon="terminal">
            <p>They reach the app as its environment, with its next start.</p>
          </Empty>
        ) : (
          <VariableTable app={app} vars={found} onEdit={setEditing} changed={changed} />
        )}
      </Card>
      {editing !== null && (
        <ChangeEnv
          app={app}
          vars={vars}
          name={editing}
          onClose={() => {
            setEditing(null);
            changed();
          }}
        />
      )}
    </>
  );
}

interface VariableTableProps {
  readonly app: App;
  readonly vars: readonly EnvVar[];
  readonly onEdit: (name: string) => void;
  readonly changed: () => void;
}

function VariableTable({ app, vars, onEdit, changed }: VariableTableProps) {
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label="Table of variables">
      <table>
        <thead>
          <tr>
            <th>Name</th>
            <th>Value</th>
            <th>
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {vars.map((one) => (
            <Variable key={one.name} app={app} one={one} onEdit={() => onEdit(one.name)} changed={changed} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface VariableProps {
  readonly app: App;
  readonly one: EnvVar;
  readonly onEdit: () => void;
  readonly changed: () => void;
}

function Variable({ app, one, onEdit, changed }: VariableProps) {
  const [isShown, setShown] = useState(false);
  return (
    <tr>
      <th scope="row" class="mono">
        {one.name}
      </th>
      <td class="mono break value">
        {one.public ? (
          one.value
        ) : (
          <span class="row tight">
            <button
              type="button"
              class="button plain little"
              aria-pressed={isShown}
              aria-label={`${isShown ? 'Hide' : 'Show'} the value of ${one.name}`}
              onClick={() => setShown(!isShown)}
            >
              <Icon name="eye" />
            </button>
            <span>{isShown ? one.value : '••••••••'}</span>
            <span class="tag">private</span>
          </span>
        )}
      </td>
      <td class="right actions">
        {one.managedBy === undefined ? (
          <Changes app={app} name={one.name} onEdit={onEdit} changed={changed} />
        ) : (
          <Manager name={one.managedBy} />
        )}
      </td>
    </tr>
  );
}

interface ChangesProps {
  readonly app: App;
  readonly name: string;
  readonly onEdit: () => void;
  readonly changed: () => void;
}

function Changes({ app, name, onEdit, changed }: ChangesProps) {
  return (
    <span class="row tight end">
      <button type="button" class="button little" onClick={onEdit}>
        Change <span class="unseen">{name}</span>
      </button>
      <ActButton
        task={`Remove ${name}`}
        work={(said) => perform('DELETE /apps/{app}/env', said, { params: { app: app.Name }, body: [name] })}
        label={`Remove ${name}`}
        look="little"
        question={{ title: `Remove ${name}?`, text: <Restarts app={app.Name} />, action: 'Remove', isDangerous: true }}
        onDone={changed}
      >
        <Icon name="trash" />
      </ActButton>
    </span>
  );
}

/** What a binding has set comes and goes with it. What lists all bindings is of none of them. */
function Manager({ name }: { name: string }) {
  if (name.includes(':')) return <span class="muted small">of all bindings</span>;
  return (
    <span class="small">
      set by <a href={BASE + at('instances', name)}>{name}</a>
    </span>
  );
}
