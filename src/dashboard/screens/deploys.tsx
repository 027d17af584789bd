import { call } from '../api/call.ts';
import { OFTEN_MS, useResource } from '../data/resource.ts';
import { Card, Empty, Head, Loaded } from '../parts/content.tsx';
import { query, setQuery } from '../routing/location.ts';
import { DeployTable } from './app-deploys.tsx';

const NEWEST = 200;

/** Of all apps that the viewer may see. */
export default function Deploys() {
  const deploys = useResource(
    'all deploys',
    (signal) => call('GET /deploys', { query: { limit: NEWEST }, signal }),
    OFTEN_MS,
  );
  const state = query.value.get('state') ?? '';
  return (
    <>
      <Head title="Deploys">
        <label>
          <span class="unseen">State</span>
          <select value={state} onChange={(event) => setQuery({ state: event.currentTarget.value })}>
            <option value="">All outcomes</option>
            <option value="done">Done</option>
            <option value="failed">Failed</option>
            <option value="going">At work</option>
          </select>
        </label>
      </Head>
      <Card isPlain>
        <Loaded from={deploys}>
          {(list) => {
            const found = list.filter(
              ({ State }) =>
                state === '' ||
                State === state ||
                (state === 'going' && !['done', 'failed', 'cancelled'].includes(State)),
            );
            return found.length === 0 ? (
              <Empty title="No deploys here" icon="deploys" />
            ) : (
              <DeployTable deploys={found} withApp changed={() => void deploys.refresh()} />
            );
          }}
        </Loaded>
      </Card>
    </>
  );
}
