import { Area } from '../parts/form.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';

interface ManifestProps {
  readonly title: string;
  readonly action: string;
  readonly done: string;
  readonly onSubmit: (manifest: string) => Promise<unknown>;
  readonly onDone: () => unknown;
  readonly isMain?: boolean;
}

const EXAMPLE = 'id: db\npassword: the-provider-checks-this\nendpoint:\n  production: https://db.example.com';

/** A button that asks for the manifest of a service. */
export function Manifest({ onSubmit, ...rest }: ManifestProps) {
  return (
    <FormDialog {...rest} onSubmit={({ manifest = '' }) => onSubmit(manifest)}>
      <Area
        label="Manifest"
        name="manifest"
        class="mono"
        rows={8}
        required
        placeholder={EXAMPLE}
        help="YAML, as docs/services.md describes it. The password is kept sealed, and shown to nobody."
      />
    </FormDialog>
  );
}
