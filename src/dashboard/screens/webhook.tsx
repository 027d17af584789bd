import { call } from '../api/call.ts';
import { useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Empty, Head, Loaded, Time } from '../parts/content.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { BASE } from '../routing/location.ts';
import type { Params } from '../routing/screens.ts';
import { aboutOf } from './webhooks.tsx';

/** One webhook: its newest messages, with what the receiver answered. */
export default function Webhook({ params: { webhook: id = '' } }: { params: Params }) {
  const params = { webhook: id };
  const found = useResource(`webhook ${id}`, async (signal) => {
    const [webhook, deliveries] = await Promise.all([
      call('GET /webhooks/{webhook}', { params, signal }),
      call('GET /webhooks/{webhook}/deliveries', { params, signal }),
    ]);
    return { webhook, deliveries };
  });
  const webhook = found.data.value?.webhook;
  return (
    <>
      <Head
        title={webhook === undefined ? 'Webhook' : `Webhook to ${webhook.receiver}`}
        crumbs={<a href={`${BASE}/webhooks`}>Webhooks</a>}
      />
      {webhook !== undefined && (
        <p class="muted">
          About {aboutOf(webhook)}, {webhook.events.join(', ') || 'all events'}.
        </p>
      )}
      <Card title="Messages" isPlain>
        <Loaded from={found}>
          {({ deliveries }) =>
            deliveries.length === 0 ? (
              <Empty title="Nothing was sent yet" icon="webhooks" />
            ) : (
              <Table
                label="Messages"
                columns={['When', 'Event', 'App', 'State', 'Attempts', 'Answer']}
                rows={deliveries.map((one) => ({
                  key: one.id,
                  cells: [
                    <Time at={one.created_at} />,
                    <code>{one.event}</code>,
                    one.app,
                    <Status state={one.state} />,
                    one.attempts,
                    [one.status === 0 ? '' : one.status, one.answer].filter((part) => part !== '').join(' '),
                  ],
                  actions: (
                    <ActButton
                      work={() =>
                        call('POST /webhooks/{webhook}/deliveries/{delivery}/resend', {
                          params: { webhook: id, delivery: one.id },
                        })
                      }
                      done="It is sent again, soon."
                      label={`Send again: ${one.event}`}
                      onDone={() => found.refresh()}
                    >
                      Send again
                    </ActButton>
                  ),
                }))}
              />
            )
          }
        </Loaded>
      </Card>
    </>
  );
}
