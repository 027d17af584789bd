import { Field } from './form.tsx';
import { FormDialog } from './form-dialog.tsx';

/** As the API has it: no limit. */
export const WITHOUT_LIMIT = -1;

interface QuotaFormProps {
  readonly title: string;
  readonly of?: string;
  /** What is counted. */
  readonly label: string;
  /** What it is now; absent where that is not known. */
  readonly limit?: number;
  readonly set: (limit: number) => Promise<unknown>;
  readonly changed: () => unknown;
}

export function QuotaForm({ title, of = '', label, limit = WITHOUT_LIMIT, set, changed }: QuotaFormProps) {
  return (
    <FormDialog
      title={title}
      of={of}
      action="Change"
      done="The quota is changed."
      onDone={changed}
      onSubmit={({ limit: wanted = '' }) => set(wanted === '' ? WITHOUT_LIMIT : Number(wanted))}
    >
      <Field
        label={label}
        name="limit"
        type="number"
        min={0}
        value={limit < 0 ? '' : String(limit)}
        help="Empty for no limit."
      />
    </FormDialog>
  );
}
