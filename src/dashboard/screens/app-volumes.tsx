import { begin, call, perform } from '../api/call.ts';
import type { AnswerOf, App } from '../api/operations.ts';
import { bytes } from '../data/format.ts';
import { useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Empty, Loaded } from '../parts/content.tsx';
import { Checkbox, Field } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { RemoveButton } from '../parts/remove-button.tsx';
import { Restarts } from '../parts/restarts.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { runTask } from '../parts/tasks.tsx';

type Volume = AnswerOf<'GET /apps/{app}/volumes'>[number];

/** What the app keeps. */
export function AppVolumes({ app }: { app: App }) {
  const params = { app: app.Name };
  const volumes = useResource(`volumes ${app.Name}`, (signal) => call('GET /apps/{app}/volumes', { params, signal }));
  const changed = (): void => void volumes.refresh();
  return (
    <Card
      title="Volumes"
      isPlain
      actions={
        <FormDialog
          title="New volume"
          action="Create"
          done="The volume is there; units see it once it is mounted."
          onDone={changed}
          onSubmit={({ name = '', size = '', single }) =>
            call('POST /apps/{app}/volumes', {
              params,
              body: { name: name.trim(), single: single === 'on', ...(size.trim() !== '' && { size: size.trim() }) },
            })
          }
        >
          <Field label="Name" name="name" required />
          <Size />
          <Checkbox label="Only one unit at a time may have it" name="single" />
        </FormDialog>
      }
    >
      <Loaded from={volumes}>
        {(list) =>
          list.length === 0 ? (
            <Empty title="No volume yet" icon="services">
              <p>A volume is a directory that stays, whatever becomes of the units.</p>
            </Empty>
          ) : (
            <Table
              label="Volumes"
              columns={['Name', 'Mounted at', 'Holds', 'Processes', 'State']}
              rows={list.map((volume) => ({
                key: volume.name,
                cells: [
                  volume.single ? `${volume.name} (one unit at a time)` : volume.name,
                  volume.path === '' ? 'not mounted' : <code>{volume.path}</code>,
                  <Holds volume={volume} />,
                  volume.processes.length === 0 ? 'all' : volume.processes.join(', '),
                  <Status state={volume.state} mood={moodOf(volume)} />,
                ],
                actions: <Actions volume={volume} changed={changed} />,
              }))}
            />
          )
        }
      </Loaded>
    </Card>
  );
}

function moodOf({ bytes: held, max_bytes: most, state }: Volume): 'good' | 'bad' | 'wait' {
  if (most > 0 && held > most) return 'bad';
  return state === 'ready' ? 'good' : 'wait';
}

function Holds({ volume: { bytes: held, max_bytes: most, name } }: { volume: Volume }) {
  if (held < 0) return <>not known yet</>;
  return (
    <span class="stack dense">
      <span>{most > 0 ? `${bytes(held)} of ${bytes(most)}` : bytes(held)}</span>
      {most > 0 && <meter min={0} max={most} value={held} high={most * 0.9} aria-label={`How full ${name} is`} />}
    </span>
  );
}

function Actions({ volume, changed }: { volume: Volume; changed: () => void }) {
  const { app, name, path } = volume;
  const params = { app, volume: name };
  const mount = async ({ path: wanted = '', processes = '' }: Record<string, string>): Promise<void> => {
    const chosen = processes.split(/[\s,]+/).filter(Boolean);
    const body = { path: wanted.trim(), ...(chosen.length > 0 && { processes: chosen }) };
    const work = await begin('PUT /apps/{app}/volumes/{volume}/mount', { params, body });
    void runTask(`Mount ${name}`, work).then(changed);
  };
  return (
    <>
      {path === '' ? (
        <FormDialog title="Mount" of={name} action="Mount" done="" onDone={changed} onSubmit={mount}>
          <Field
            label={`Where units see ${name}`}
            name="path"
            class="mono"
            required
            placeholder="/uploads"
            help="Without a slash at its beginning: below the code."
          />
          <Field label="Processes" name="processes" help="Empty: all of them." />
          <p class="muted small">
            <Restarts app={app} />
          </p>
        </FormDialog>
      ) : (
        <ActButton
          task={`Unmount ${name}`}
          work={(said) => perform('DELETE /apps/{app}/volumes/{volume}/mount', said, { params })}
          label={`Unmount ${name}`}
          question={{
            title: `Unmount ${name}?`,
            text: (
              <>
                The units are replaced by some that do not see it; what it holds stays. <Restarts app={app} />
              </>
            ),
            action: 'Unmount',
          }}
          onDone={changed}
        >
          Unmount
        </ActButton>
      )}
      <FormDialog
        title="Change"
        of={name}
        action="Change"
        done={`${name} is changed.`}
        onDone={changed}
        onSubmit={({ size = '', single }) =>
          call('PUT /apps/{app}/volumes/{volume}', {
            params,
            body: { single: single === 'on', ...(size.trim() !== '' && { size: size.trim() }) },
          })
        }
      >
        <Size isKept />
        <Checkbox label="Only one unit at a time may have it" name="single" checked={volume.single} />
      </FormDialog>
      {path === '' && (
        <RemoveButton
          what={`the volume ${name}`}
          text="What it holds is removed for good."
          work={() => call('DELETE /apps/{app}/volumes/{volume}', { params })}
          typed={name}
          onDone={changed}
        />
      )}
    </>
  );
}

function Size({ isKept = false }: { isKept?: boolean }) {
  return (
    <Field
      label="What it is to hold at most"
      name="size"
      placeholder="2G"
      help={isKept ? 'Empty: as it is.' : 'Empty: as much as a volume may hold here.'}
    />
  );
}
