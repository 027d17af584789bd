import { call } from '../api/call.ts';
import { exact } from '../data/format.ts';
import { logAt } from '../data/happenings.ts';
import { useResource } from '../data/resource.ts';
import { Card, Head, Loaded } from '../parts/content.tsx';
import { at, BASE } from '../routing/location.ts';
import type { Params } from '../routing/screens.ts';
import { EventOutcome } from './audit.tsx';

const AROUND_MS = 60_000;

/** One thing that somebody did, or was refused. */
export default function Event({ params: { event: id = '' } }: { params: Params }) {
  const event = useResource(`event ${id}`, (signal) => call('GET /events/{event}', { params: { event: id }, signal }));
  const known = event.data.value;
  return (
    <>
      <Head
        title={known?.Kind.Name ?? 'Event'}
        crumbs={<a href={`${BASE}/audit`}>Audit</a>}
        beside={known !== undefined && <EventOutcome event={known} />}
      />
      <Card title="About this event">
        <Loaded from={event}>
          {({ StartTime, EndTime, Owner, Target, SourceIP, Error: error, Log, Running }) => (
            <dl class="facts">
              <dt>Begun</dt>
              <dd>{exact(StartTime)}</dd>
              <dt>Ended</dt>
              <dd>{Running ? 'not yet' : exact(EndTime)}</dd>
              <dt>Who</dt>
              <dd class="break">{Owner.Name}</dd>
              <dt>From</dt>
              <dd>{SourceIP}</dd>
              <dt>On</dt>
              <dd class="break">
                {Target.Type === 'app' ? (
                  <a href={BASE + at('apps', Target.Value)}>{Target.Value}</a>
                ) : (
                  `${Target.Type} ${Target.Value}`
                )}
              </dd>
              {error !== '' && (
                <>
                  <dt>Error</dt>
                  <dd class="break">{error}</dd>
                </>
              )}
              {Log !== '' && (
                <>
                  <dt>Details</dt>
                  <dd class="break">{Log}</dd>
                </>
              )}
              {Target.Type === 'app' && (
                <>
                  <dt>Log</dt>
                  <dd>
                    <a href={BASE + logAt(Target.Value, around(StartTime))}>What the app logged then</a>
                  </dd>
                </>
              )}
            </dl>
          )}
        </Loaded>
      </Card>
    </>
  );
}

function around(time: string): { fromMs: number; toMs: number } {
  const atMs = Date.parse(time);
  return { fromMs: atMs - AROUND_MS, toMs: atMs + AROUND_MS };
}
