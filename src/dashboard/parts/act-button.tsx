/** A button that does one thing, once at a time, after a question when it is a dangerous one. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { confirm, type Question } from './dialog.tsx';
import { runTask } from './tasks.tsx';
import { attempt } from './toasts.tsx';

interface ActButtonProps {
  /** `said` takes what the work reports meanwhile; it is shown where the work has a title. */
  readonly work: (said: (line: string) => void) => Promise<unknown>;
  /** Title of work that goes on for a while: what it reports is shown under it, line by line. */
  readonly task?: string;
  /** Said when it was done, of work without a title. */
  readonly done?: string;
  readonly question?: Question;
  /** What is read out in place of the content. */
  readonly label?: string;
  /** Classes beside that of all buttons. */
  readonly look?: string;
  readonly isDisabled?: boolean;
  readonly onDone?: () => unknown;
  readonly children: ComponentChildren;
}

export function ActButton({ work, task, done, question, label, look, isDisabled, onDone, children }: ActButtonProps) {
  const [isBusy, setBusy] = useState(false);
  const isAtWork = useRef(false);
  const act = async (): Promise<void> => {
    if (isAtWork.current || (question !== undefined && !(await confirm(question)))) return;
    isAtWork.current = true;
    setBusy(true);
    const isDone = await (task === undefined ? attempt(() => work(() => {}), done) : runTask(task, work));
    isAtWork.current = false;
    setBusy(false);
    if (isDone) onDone?.();
  };
  return (
    <button
      type="button"
      class={`button ${look ?? (question?.isDangerous === true ? 'little danger' : 'little')}`}
      aria-disabled={isBusy}
      aria-busy={isBusy}
      disabled={isDisabled === true}
      {...(label !== undefined && { 'aria-label': label })}
      onClick={() => void act()}
    >
      {isBusy && <span class="spinner" aria-hidden="true" />}
      {children}
    </button>
  );
}
