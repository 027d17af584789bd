import { call, perform } from '../api/call.ts';
import type { AnswerOf } from '../api/operations.ts';
import { viewer } from '../api/session.ts';
import { useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Head, Loaded } from '../parts/content.tsx';
import { Area, Field } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { RemoveButton } from '../parts/remove-button.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { notify } from '../parts/toasts.tsx';

type Platform = AnswerOf<'GET /platforms'>[number];

const quiet = (): void => {};

export default function Platforms() {
  const platforms = useResource('platforms', (signal) => call('GET /platforms', { signal }), 15_000);
  const changed = (): void => void platforms.refresh();
  const { isAdmin } = viewer();
  return (
    <>
      <Head title="Platforms">{isAdmin && <Add done={changed} />}</Head>
      <Card isPlain>
        <Loaded from={platforms}>
          {(list) => (
            <Table
              label="Platforms"
              columns={['Name', 'What it runs', 'State', 'Tools']}
              rows={list.map((platform) => ({
                key: platform.Name,
                cells: [
                  platform.Added ? `${platform.Name} (added here)` : platform.Name,
                  platform.Description,
                  <State platform={platform} />,
                  platform.Tools.join(', '),
                ],
                ...(isAdmin && { actions: <Actions platform={platform} changed={changed} /> }),
              }))}
            />
          )}
        </Loaded>
      </Card>
    </>
  );
}

function State({ platform: { Disabled, Ready, Missing } }: { platform: Platform }) {
  if (Disabled) return <Status state="disabled" mood="idle" />;
  if (Ready) return <Status state="ready" />;
  return (
    <span class="stack dense">
      <span>
        <Status state="missing" mood="bad" />
      </span>
      <span class="small">{Missing.join(' ')}</span>
    </span>
  );
}

function Add({ done }: { done: () => void }) {
  return (
    <FormDialog
      title="New platform"
      action="Add"
      done="Apps can be made for it now."
      isMain
      onDone={done}
      onSubmit={({ name = '', definition = '' }) =>
        notifyLacks((said) => perform('POST /platforms', said, { query: { name: name.trim() }, body: definition }))
      }
    >
      <Field label="Name" name="name" required />
      <Definition />
    </FormDialog>
  );
}

/** What its tools lack on this machine. */
async function notifyLacks(work: (said: (line: string) => void) => Promise<void>): Promise<void> {
  const said: string[] = [];
  await work((line) => said.push(line));
  for (const line of said.filter((one) => one.startsWith('!'))) notify(line);
}

function Definition() {
  return (
    <Area
      label="Definition"
      name="definition"
      class="mono"
      rows={10}
      required
      placeholder="description: …"
      help="YAML, as docs/platforms.md describes it: how its apps are known, built and started."
    />
  );
}

function Actions({ platform, changed }: { platform: Platform; changed: () => void }) {
  const { Name: name, Disabled: isDisabled, Added: isAdded } = platform;
  const params = { platform: name };
  return (
    <>
      <ActButton
        work={() => perform('PUT /platforms/{platform}', quiet, { params, query: { disabled: !isDisabled }, body: '' })}
        done={isDisabled ? `Apps can be made for ${name} again.` : `No new apps are made for ${name}.`}
        label={`${isDisabled ? 'Enable' : 'Disable'} ${name}`}
        onDone={changed}
      >
        {isDisabled ? 'Enable' : 'Disable'}
      </ActButton>
      {isAdded && (
        <FormDialog
          title="Change"
          of={`the platform ${name}`}
          action="Change"
          done="The next deploys go by the new definition."
          onDone={changed}
          onSubmit={({ definition = '' }) =>
            notifyLacks((said) => perform('PUT /platforms/{platform}', said, { params, query: {}, body: definition }))
          }
        >
          <Definition />
        </FormDialog>
      )}
      {isAdded && (
        <RemoveButton
          what={`the platform ${name}`}
          text="There must be no app of it."
          work={() => call('DELETE /platforms/{platform}', { params })}
          onDone={changed}
        />
      )}
    </>
  );
}
