import { begin, perform } from '../api/call.ts';
import type { App } from '../api/operations.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Empty } from '../parts/content.tsx';
import { Field } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { Restarts } from '../parts/restarts.tsx';
import { Table } from '../parts/table.tsx';
import { runTask } from '../parts/tasks.tsx';
import { at, BASE } from '../routing/location.ts';

/** Which other apps it reaches, and by which it is reached. */
export function AppLinks({ app, changed }: { app: App; changed: () => void }) {
  const { Name: name, links = [], linkedFrom = [] } = app;
  return (
    <Card
      title="Links to other apps"
      isPlain
      actions={
        <FormDialog
          title="Link an app"
          action="Link"
          done=""
          onDone={changed}
          onSubmit={async ({ to = '' }) => {
            const work = await begin('PUT /apps/{app}/links/{to}', { params: { app: name, to: to.trim() } });
            void runTask(`Link ${to.trim()}`, work).then(changed);
          }}
        >
          <Field label="App" name="to" required help={`${name} reaches it as <app>.internal.`} />
          <p class="muted small">
            <Restarts app={name} />
          </p>
        </FormDialog>
      }
    >
      {links.length + linkedFrom.length === 0 ? (
        <Empty title="It reaches no other app directly" icon="pools" />
      ) : (
        <Table
          label="Links"
          columns={['App', 'How']}
          rows={[
            ...links.map((to) => ({
              key: `to ${to}`,
              cells: [<a href={BASE + at('apps', to)}>{to}</a>, <code>{to}.internal</code>],
              actions: (
                <ActButton
                  task={`Unlink ${to}`}
                  work={(said) => perform('DELETE /apps/{app}/links/{to}', said, { params: { app: name, to } })}
                  label={`Take away the link to ${to}`}
                  question={{
                    title: `Take away the link to ${to}?`,
                    text: (
                      <>
                        {name} reaches {to}.internal no more. <Restarts app={name} />
                      </>
                    ),
                    action: 'Take away',
                    isDangerous: true,
                  }}
                  onDone={changed}
                >
                  Take away
                </ActButton>
              ),
            })),
            ...linkedFrom.map((from) => ({
              key: `from ${from}`,
              cells: [<a href={BASE + at('apps', from)}>{from}</a>, `reaches this one as ${name}.internal`],
            })),
          ]}
        />
      )}
    </Card>
  );
}
