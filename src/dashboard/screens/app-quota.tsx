import { call } from '../api/call.ts';
import { viewer } from '../api/session.ts';
import { plural } from '../data/format.ts';
import { useResource } from '../data/resource.ts';
import { Card, Loaded } from '../parts/content.tsx';
import { Field } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';

const SOMETIMES_MS = 15_000;
const WITHOUT_LIMIT = -1;

/** How many units it may have. */
export function AppQuota({ app }: { app: string }) {
  const params = { app };
  const quota = useResource(
    `quota ${app}`,
    (signal) => call('GET /apps/{app}/quota', { params, signal }),
    SOMETIMES_MS,
  );
  const limit = quota.data.value?.limit ?? WITHOUT_LIMIT;
  return (
    <Card
      title="Quota"
      actions={
        viewer().isAdmin && (
          <FormDialog
            title="Change the quota"
            action="Change"
            done="The quota is changed."
            onDone={() => quota.refresh()}
            onSubmit={({ limit: wanted = '' }) =>
              call('PUT /apps/{app}/quota', { params, body: { limit: wanted === '' ? WITHOUT_LIMIT : Number(wanted) } })
            }
          >
            <Field
              label="Units that it may have"
              name="limit"
              type="number"
              min={0}
              value={limit < 0 ? '' : String(limit)}
              help="Empty for no limit."
            />
          </FormDialog>
        )
      }
    >
      <Loaded from={quota}>
        {(found) => (
          <p>
            {found.limit < 0
              ? `It has ${plural(found.inuse, 'unit')}; there is no limit.`
              : `It has ${found.inuse} of ${plural(found.limit, 'unit')}.`}
          </p>
        )}
      </Loaded>
    </Card>
  );
}
