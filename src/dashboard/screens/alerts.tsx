import { call } from '../api/call.ts';
import type { AnswerOf } from '../api/operations.ts';
import { plural } from '../data/format.ts';
import { useResource } from '../data/resource.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card, Empty, Head, Loaded, Time } from '../parts/content.tsx';
import { Area, Checkbox, Count } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { type Mood, Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { notify } from '../parts/toasts.tsx';

type Shown = AnswerOf<'GET /alerts'>;
type Rule = Shown['rules'][number];

const MOODS: Readonly<Record<string, Mood>> = { firing: 'bad', pending: 'wait', resolved: 'good' };

/** What is wrong now and was lately, by which rules, and who is notified. */
export default function Alerts() {
  const shown = useResource('alerts', (signal) => call('GET /alerts', { signal }));
  const changed = (): void => void shown.refresh();
  return (
    <>
      <Head title="Alerts">
        <ActButton work={sendTest} look="" label="Send a test to all receivers">
          Send a test
        </ActButton>
      </Head>
      <Loaded from={shown}>
        {({ alerts, rules, mail }) => (
          <>
            <Going alerts={alerts} />
            <Rules rules={rules} changed={changed} />
            <Mail mail={mail} changed={changed} />
          </>
        )}
      </Loaded>
    </>
  );
}

async function sendTest(): Promise<void> {
  const { mailed, webhooks } = await call('POST /alerts/test');
  const recipients = [...mailed, ...(webhooks > 0 ? [plural(webhooks, 'webhook')] : [])];
  notify(
    recipients.length === 0
      ? 'Nobody gets alerts: name who gets letters, or add a webhook.'
      : `Sent to ${recipients.join(', ')}.`,
  );
}

function Going({ alerts }: { alerts: Shown['alerts'] }) {
  return (
    <Card title="What is wrong, and what was in the last seven days" isPlain>
      {alerts.length === 0 ? (
        <Empty title="Nothing is wrong, and nothing was" icon="done" />
      ) : (
        <Table
          label="Alerts"
          columns={['About', 'State', 'What', 'Rule', 'Since', 'Over']}
          rows={alerts.map((one) => ({
            key: `${one.rule} ${one.subject} ${one.since}`,
            cells: [
              one.subject,
              <Status state={one.state} mood={MOODS[one.state] ?? 'idle'} />,
              one.message,
              <code>{one.rule}</code>,
              <Time at={one.since} />,
              one.resolved_at === '' ? '' : <Time at={one.resolved_at} />,
            ],
          }))}
        />
      )}
    </Card>
  );
}

function Rules({ rules, changed }: { rules: readonly Rule[]; changed: () => void }) {
  return (
    <Card title="Rules" isPlain>
      <Table
        label="Rules"
        columns={['Rule', 'Wrong is', 'Threshold', 'For', 'State']}
        rows={rules.map((rule) => ({
          key: rule.name,
          cells: [
            <code>{rule.name}</code>,
            rule.about,
            rule.unit.endsWith('s') ? plural(rule.threshold, rule.unit.slice(0, -1)) : `${rule.threshold} ${rule.unit}`,
            rule.minutes === 0 ? 'at once' : plural(rule.minutes, 'minute'),
            <Status state={rule.on ? 'on' : 'off'} mood={rule.on ? 'good' : 'idle'} />,
          ],
          actions: <ChangeRule rule={rule} changed={changed} />,
        }))}
      />
    </Card>
  );
}

function ChangeRule({ rule: { name, on, minutes, threshold, unit }, changed }: { rule: Rule; changed: () => void }) {
  return (
    <FormDialog
      title="Change"
      of={`the rule ${name}`}
      action="Change"
      done="The rule counts from the next look on, half a minute at most."
      onDone={changed}
      onSubmit={(values) =>
        call('PUT /alerts', {
          body: {
            rules: {
              [name]: {
                on: values['on'] === 'on',
                minutes: Number(values['minutes']),
                threshold: Number(values['threshold']),
              },
            },
          },
        })
      }
    >
      <Count label={unit === '' ? 'Threshold' : `Threshold (${unit})`} name="threshold" value={threshold} />
      <Count
        label="Minutes that it has to be wrong"
        name="minutes"
        value={minutes}
        help="And well for as long, before it counts as over."
      />
      <Checkbox label="Alerts are sent" name="on" checked={on} />
    </FormDialog>
  );
}

function Mail({ mail, changed }: { mail: readonly string[]; changed: () => void }) {
  return (
    <Card
      title="Who gets letters"
      actions={
        <FormDialog
          title="Change who gets letters"
          action="Change"
          done="They get letters from the next alert on."
          onDone={changed}
          onSubmit={({ mail: text = '' }) =>
            call('PUT /alerts', { body: { mail: text.split(/[\s,;]+/).filter(Boolean) } })
          }
        >
          <Area
            label="E-mail addresses"
            name="mail"
            rows={4}
            value={mail.join('\n')}
            help="One per line; empty: nobody."
          />
        </FormDialog>
      }
    >
      <p class="break">
        {mail.length === 0 ? <span class="muted">Nobody. Webhooks get it all the same.</span> : mail.join(', ')}
      </p>
    </Card>
  );
}
