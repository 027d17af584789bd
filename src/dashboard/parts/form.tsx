/** Fields with their labels, and forms that say what was wrong with what was typed. */
import type { ComponentChildren, JSX, TargetedInputEvent } from 'preact';
import { useId, useState } from 'preact/hooks';
import { type Problem, problemOf } from '../api/problem.ts';
import { ProblemNote } from './content.tsx';

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
        {...(rest as JSX.IntrinsicElements['input'])}
      />
      {help !== undefined && (
        <div class="help" id={`${id}-help`}>
          {help}
        </div>
      )}
    </div>
  );
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
        {...rest}
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
      <select id={id} name={name} {...(value !== undefined && { defaultValue: value })}>
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {option.label}
          </option>
        ))}
      </select>
      {help !== undefined && <div class="help">{help}</div>}
    </div>
  );
}

export function Check({ label, name, checked = false }: { label: string; name: string; checked?: boolean }) {
  return (
    <label class="check">
      <input type="checkbox" name={name} defaultChecked={checked} />
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
  readonly children: ComponentChildren;
}

/** Checkboxes that are set have the value `on`. */
export function Form({ onSubmit, action, onCancel, isDangerous = false, children }: FormProps) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const given = [...new FormData(event.currentTarget as HTMLFormElement)];
    setBusy(true);
    setProblem(null);
    try {
      await onSubmit(Object.fromEntries(given.map(([name, value]) => [name, typeof value === 'string' ? value : ''])));
    } catch (thrown) {
      setProblem(problemOf(thrown));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="stack" onSubmit={(event) => void submit(event as SubmitEvent)}>
      {children}
      {problem !== null && <ProblemNote problem={problem} />}
      <div class="buttons row">
        {onCancel !== undefined && (
          <button type="button" class="button" onClick={onCancel}>
            Cancel
          </button>
        )}
        <button class={`button main ${isDangerous ? 'danger' : ''}`} aria-disabled={isBusy}>
          {isBusy && <span class="spinner" aria-hidden="true" />}
          {action}
        </button>
      </div>
    </form>
  );
}
