/** Questions in front of everything else. The browser keeps the focus inside and closes them with Escape. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  readonly isWide?: boolean;
  /** Nothing of what is behind it can be seen. */
  readonly isCover?: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ title, isWide = false, isCover = false, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const before = useRef<Element | null>(null);
  // At once: what is typed next is for the dialog.
  useLayoutEffect(() => {
    before.current = document.activeElement;
    dialog.current?.showModal();
  }, []);
  // When it is gone: until then nothing behind it can have the focus.
  useEffect(
    () => () => {
      if (before.current instanceof HTMLElement && before.current.isConnected) before.current.focus();
    },
    [],
  );
  return (
    <dialog
      ref={dialog}
      class={`${isWide ? 'wide' : ''} ${isCover ? 'cover' : ''}`}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div class="inside">
        <h2 id={heading}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

export interface Question {
  readonly title: string;
  readonly text: ComponentChildren;
  /** On the button that does it. */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Has to be typed first. */
  readonly typed?: string;
}

const asked = signal<{ question: Question; answer: (isSure: boolean) => void } | null>(null);

/** Resolves to whether the viewer is sure. */
export function confirm(question: Question): Promise<boolean> {
  asked.value?.answer(false);
  return new Promise((resolve) => {
    asked.value = {
      question,
      answer(isSure) {
        asked.value = null;
        resolve(isSure);
      },
    };
  });
}

export function Confirmation() {
  const open = asked.value;
  return open === null ? null : <Asking key={open.question.title} {...open} />;
}

function Asking({ question, answer }: { question: Question; answer: (isSure: boolean) => void }) {
  const [typed, setTyped] = useState('');
  const field = useId();
  const isReady = question.typed === undefined || question.typed === typed.trim();
  return (
    <Dialog title={question.title} onClose={() => answer(false)}>
      <div class="muted">{question.text}</div>
      {question.typed !== undefined && (
        <div class="field">
          <label for={field}>
            Type <code>{question.typed}</code> to go on
          </label>
          <input
            id={field}
            class="mono"
            value={typed}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </div>
      )}
      <div class="buttons">
        <button type="button" class="button" onClick={() => answer(false)}>
          Cancel
        </button>
        <button
          type="button"
          class={`button main ${question.isDangerous === true ? 'danger' : ''}`}
          disabled={!isReady}
          onClick={() => answer(true)}
        >
          {question.action}
        </button>
      </div>
    </Dialog>
  );
}
