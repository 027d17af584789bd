import { Problem } from '../api/problem.ts';
import { useResource } from '../data/resource.ts';
import { Loaded } from './content.tsx';
import { Field } from './form.tsx';
import { FormDialog } from './form-dialog.tsx';

/** As the API has it: no limit. */
const WITHOUT_LIMIT = -1;

interface QuotaFormProps {
  readonly title: string;
  readonly of?: string;
  /** What is counted. */
  readonly label: string;
  /** What it is now. */
  readonly read: (signal: AbortSignal) => Promise<{ readonly limit: number }>;
  readonly set: (limit: number) => Promise<unknown>;
  readonly changed: () => unknown;
}

export function QuotaForm({ title, of = '', label, read, set, changed }: QuotaFormProps) {
  const change = async ({ limit: wanted }: Record<string, string>): Promise<void> => {
    if (wanted === undefined) throw new Problem('What it is now is not there yet.', { code: 'dashboard' });
    await set(wanted === '' ? WITHOUT_LIMIT : Number(wanted));
  };
  return (
    <FormDialog title={title} of={of} action="Change" done="The quota is changed." onDone={changed} onSubmit={change}>
      <Limit label={label} read={read} />
    </FormDialog>
  );
}

function Limit({ label, read }: Pick<QuotaFormProps, 'label' | 'read'>) {
  const now = useResource(label, read);
  return (
    <Loaded from={now}>
      {({ limit }) => (
        <Field
          label={label}
          name="limit"
          type="number"
          min={0}
          value={limit < 0 ? '' : String(limit)}
          help="Empty for no limit."
        />
      )}
    </Loaded>
  );
}
