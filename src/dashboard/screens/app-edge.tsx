import { call } from '../api/call.ts';
import type { AnswerOf, App } from '../api/operations.ts';
import { useResource } from '../data/resource.ts';
import { Card, Loaded } from '../parts/content.tsx';
import { Area, Checkbox, Choice, Field, Form } from '../parts/form.tsx';
import { notify } from '../parts/toasts.tsx';

type Edge = AnswerOf<'GET /apps/{app}/edge'>;

const HOLDS = [
  { value: 'off', label: 'are answered with an error' },
  { value: 'unserved', label: 'wait while no unit can answer' },
  { value: 'always', label: 'all wait' },
];

/** How requests to the app are treated before it sees them. */
export function AppEdge({ app: { Name: app } }: { app: App }) {
  const params = { app };
  const edge = useResource(`edge ${app}`, (signal) => call('GET /apps/{app}/edge', { params, signal }), 15_000);
  const save = async (values: Record<string, string>): Promise<void> => {
    await call('PUT /apps/{app}/edge', { params, body: changeOf(values) });
    await edge.refresh();
    notify('It is in effect.');
  };
  return (
    <Card title="Requests">
      <Loaded from={edge}>{(found) => <EdgeForm edge={found} save={save} />}</Loaded>
    </Card>
  );
}

function changeOf(values: Record<string, string>) {
  const is = (name: string): boolean => values[name] === 'on';
  return {
    maintenance: is('maintenance'),
    maintenancePage: values['maintenancePage'] ?? '',
    hold: values['hold'] ?? 'off',
    holdSeconds: values['holdSeconds'] || null,
    accessLog: is('accessLog'),
    sticky: is('sticky'),
    redirectHttps: is('redirectHttps'),
    maxBodyBytes: values['maxBodyBytes'] || null,
    responseTimeoutSeconds: values['responseTimeoutSeconds'] || null,
    maxRequests: values['maxRequests'] || null,
  };
}

function EdgeForm({ edge, save }: { edge: Edge; save: (values: Record<string, string>) => Promise<void> }) {
  return (
    <Form action="Save the treatment of requests" onSubmit={save} isLasting>
      <Checkbox label="Maintenance: every request is answered 503" name="maintenance" checked={edge.maintenance} />
      <Area
        label="Page that is shown then"
        name="maintenancePage"
        class="mono"
        rows={3}
        value={edge.maintenancePage}
        help="HTML; empty: that of tancho.yaml, else a page of the platform."
      />
      <Choice label="While no unit can answer, requests" name="hold" value={edge.hold} options={HOLDS} />
      <Amount label="Seconds they wait at most" name="holdSeconds" value={edge.holdSeconds} least={1} />
      <Checkbox label="Each request is a line of the log" name="accessLog" checked={edge.accessLog} />
      <Checkbox label="A client comes to the unit it has been to" name="sticky" checked={edge.sticky} />
      <Checkbox label="Plain HTTP leads to HTTPS" name="redirectHttps" checked={edge.redirectHttps} />
      <Amount label="Longest body, in bytes" name="maxBodyBytes" value={edge.maxBodyBytes} help="Empty: no limit." />
      <Amount
        label="Seconds the app may take to answer"
        name="responseTimeoutSeconds"
        value={edge.responseTimeoutSeconds}
        help="Empty: a minute."
      />
      <Amount label="Requests at one time" name="maxRequests" value={edge.maxRequests} help="Empty: no limit." />
    </Form>
  );
}

interface AmountProps {
  readonly label: string;
  readonly name: string;
  /** 0 for none. */
  readonly value: number;
  readonly help?: string;
  readonly least?: number;
}

function Amount({ value, least = 0, ...rest }: AmountProps) {
  return <Field {...rest} type="number" min={least} value={value === 0 ? '' : String(value)} />;
}
