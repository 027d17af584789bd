/** Fields with their labels, and forms that say what was wrong with what was typed. */
import type { ComponentChildren, JSX, TargetedInputEvent } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { type Problem, problemOf } from '../api/problem.ts';
import { ProblemNote } from './content.tsx';
import { notifyProblem } from './toasts.tsx';

interface Named {
  readonly label: string;
  readonly name: string;
  readonly help?: ComponentChildren;
}

interface InputProps extends Named {
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'search';
  readonly autocomplete?: string;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly autoFocus?: boolean;
  readonly pattern?: string;
  readonly min?: number;
  readonly maxLength?: number;
  readonly value?: string;
  readonly class?: string;
  readonly onInput?: (event: TargetedInputEvent<HTMLInputElement>) => void;
}

/** What is typed stays through every new drawing: a value that nobody listens to is only what it begins with. */
function held<P extends { readonly value?: string; readonly onInput?: unknown }>({ value, ...rest }: P) {
  if (value === undefined) return rest;
  return rest.onInput === undefined ? { ...rest, defaultValue: value } : { ...rest, value };
}

export function Field({ label, name, help, ...rest }: InputProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        name={name}
        autocomplete="off"
        {...(help !== undefined && { 'aria-describedby': `${id}-help` })}
        {...(held(rest) as JSX.IntrinsicElements['input'])}
      />
      {help !== undefined && (
        <div class="help" id={`${id}-help`}>
          {help}
        </div>
      )}
    </div>
  );
}

/** A whole number from 0 on. */
export function Count({ value, ...rest }: Named & { value: number }) {
  return <Field type="number" min={0} required value={String(value)} {...rest} />;
}

interface AreaProps extends Named {
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly rows?: number;
  readonly value?: string;
  readonly class?: string;
  readonly onInput?: (event: TargetedInputEvent<HTMLTextAreaElement>) => void;
}

export function Area({ label, name, help, ...rest }: AreaProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        name={name}
        spellcheck={false}
        {...(help !== undefined && { 'aria-describedby': `${id}-help` })}
        {...(held(rest) as JSX.IntrinsicElements['textarea'])}
      />
      {help !== undefined && (
        <div class="help" id={`${id}-help`}>
          {help}
        </div>
      )}
    </div>
  );
}

export function Choice({
  label,
  name,
  help,
  options,
  value,
}: Named & { options: readonly { value: string; label: string }[]; value?: string }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} name={name}>
        {options.map((option) => (
          <option key={option.value} value={option.value} {...{ defaultSelected: option.value === value }}>
            {option.label}
          </option>
        ))}
      </select>
      {help !== undefined && <div class="help">{help}</div>}
    </div>
  );
}

interface CheckProps {
  readonly label: string;
  readonly name: string;
  /** At first. */
  readonly checked?: boolean;
  /** At any time, where what is chosen is held elsewhere. */
  readonly isSet?: boolean;
  readonly onChange?: (isChecked: boolean) => void;
}

export function Checkbox({ label, name, checked = false, isSet, onChange }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        name={name}
        {...(isSet === undefined ? { defaultChecked: checked } : { checked: isSet })}
        onChange={(event) => onChange?.(event.currentTarget.checked)}
      />
      {label}
    </label>
  );
}

interface FormProps {
  /** Gets what was typed; a Problem it throws is shown above the button. */
  readonly onSubmit: (values: Record<string, string>) => Promise<unknown>;
  readonly action: string;
  readonly onCancel?: () => void;
  readonly isDangerous?: boolean;
  /** After it was done: the fields show what is stored again, unless somebody has typed on meanwhile. */
  readonly isLasting?: boolean;
  readonly children: ComponentChildren;
}

/** Checkboxes that are set have the value `on`. */
export function Form({ onSubmit, action, onCancel, isDangerous, isLasting, children }: FormProps) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isSending = useRef(false);
  const form = useRef<HTMLFormElement>(null);
  const [sent, setSent] = useState('');
  // Not before what is stored now has been drawn.
  useEffect(() => {
    if (sent !== '' && form.current !== null && textOf(form.current) === sent) form.current.reset();
    setSent('');
  }, [sent]);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (isSending.current) return;
    const filled = event.currentTarget as HTMLFormElement;
    const given = [...new FormData(filled)];
    const before = textOf(filled);
    isSending.current = true;
    setBusy(true);
    setProblem(null);
    for (const field of filled.querySelectorAll('[aria-invalid]')) field.removeAttribute('aria-invalid');
    try {
      await onSubmit(Object.fromEntries(given.map(([name, value]) => [name, typeof value === 'string' ? value : ''])));
      if (isLasting === true) setSent(before);
    } catch (thrown) {
      // Somebody has closed it, or gone elsewhere, meanwhile.
      if (!filled.isConnected) return notifyProblem(thrown);
      const found = problemOf(thrown);
      // Whoever signs in again is back here, with all that was typed.
      if (found.code !== 'auth.required') setProblem(found);
      pointOut(filled, found.field);
    } finally {
      isSending.current = false;
      setBusy(false);
    }
  };
  return (
    <form ref={form} class="stack" onSubmit={(event) => void submit(event as SubmitEvent)}>
      {children}
      {problem !== null && <ProblemNote problem={problem} />}
      <div class="buttons row">
        {onCancel !== undefined && (
          <button type="button" class="button" onClick={onCancel}>
            Cancel
          </button>
        )}
        <button class={`button main ${isDangerous === true ? 'danger' : ''}`} aria-disabled={isBusy} aria-busy={isBusy}>
          {isBusy && <span class="spinner" aria-hidden="true" />}
          {action}
        </button>
      </div>
    </form>
  );
}

function textOf(form: HTMLFormElement): string {
  return JSON.stringify([...new FormData(form)]);
}

function pointOut(form: HTMLFormElement, name: string): void {
  const field = name === '' ? null : form.elements.namedItem(name);
  if (!(field instanceof HTMLElement)) return;
  field.setAttribute('aria-invalid', 'true');
  field.focus();
}
