/** A button that does one thing, after a question when it is a dangerous one. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { confirm, type Question } from './dialog.tsx';
import { attempt } from './toasts.tsx';

interface ActButtonProps {
  readonly work: () => Promise<unknown>;
  /** Said when it was done. */
  readonly done: string;
  readonly question?: Question;
  /** What is read out in place of the content. */
  readonly label?: string;
  readonly onDone?: () => unknown;
  readonly children: ComponentChildren;
}

export function ActButton({ work, done, question, label, onDone, children }: ActButtonProps) {
  const [isBusy, setBusy] = useState(false);
  const act = async (): Promise<void> => {
    if (isBusy || (question !== undefined && !(await confirm(question)))) return;
    setBusy(true);
    const isDone = await attempt(work, done);
    setBusy(false);
    if (isDone) onDone?.();
  };
  return (
    <button
      type="button"
      class={`button little ${question?.isDangerous === true ? 'danger' : ''}`}
      aria-disabled={isBusy}
      {...(label !== undefined && { 'aria-label': label })}
      onClick={() => void act()}
    >
      {children}
    </button>
  );
}
