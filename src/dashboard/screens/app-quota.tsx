import { call } from '../api/call.ts';
import { viewer } from '../api/session.ts';
import { plural } from '../data/format.ts';
import { useResource } from '../data/resource.ts';
import { Card, Loaded } from '../parts/content.tsx';
import { QuotaForm } from '../parts/quota-form.tsx';

const SOMETIMES_MS = 15_000;

/** How many units it may have. */
export function AppQuota({ app }: { app: string }) {
  const params = { app };
  const read = (signal: AbortSignal) => call('GET /apps/{app}/quota', { params, signal });
  const quota = useResource(`quota ${app}`, read, SOMETIMES_MS);
  return (
    <Card
      title="Quota"
      actions={
        viewer().isAdmin && (
          <QuotaForm
            title="Change the quota"
            label="Units that it may have"
            read={read}
            set={(wanted) => call('PUT /apps/{app}/quota', { params, body: { limit: wanted } })}
            changed={() => quota.refresh()}
          />
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
