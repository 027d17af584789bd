/** A button that opens a form in front of the screen. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';
import { notify } from './toasts.tsx';

interface FormDialogProps {
  /** On the button, and above the form. */
  readonly title: string;
  /** What it is about, where there are several such buttons: read out, and above the form. */
  readonly of?: string;
  readonly action: string;
  /** Shown once it is done; '' where the work reports that itself. */
  readonly done: string;
  readonly onSubmit: (values: Record<string, string>) => Promise<unknown>;
  readonly onDone: () => unknown;
  readonly isMain?: boolean;
  readonly children: ComponentChildren;
}

export function FormDialog({ title, of = '', action, done, onSubmit, onDone, isMain, children }: FormDialogProps) {
  const [isOpen, setOpen] = useState(false);
  const submit = async (values: Record<string, string>): Promise<void> => {
    await onSubmit(values);
    setOpen(false);
    if (done !== '') notify(done);
    onDone();
  };
  return (
    <>
      <button type="button" class={`button ${isMain === true ? 'main' : 'little'}`} onClick={() => setOpen(true)}>
        {title} {of !== '' && <span class="unseen">{of}</span>}
      </button>
      {isOpen && (
        <Dialog title={`${title} ${of}`.trimEnd()} onClose={() => setOpen(false)}>
          <Form action={action} onSubmit={submit} onCancel={() => setOpen(false)}>
            {children}
          </Form>
        </Dialog>
      )}
    </>
  );
}
