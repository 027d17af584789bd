/** What screens are made of. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Problem } from '../api/problem.ts';
import { ago, exact } from '../data/format.ts';
import type { Resource } from '../data/resource.ts';
import { Icon, type IconName } from './icon.tsx';
import { attempt } from './toasts.tsx';

export function Head({
  title,
  crumbs,
  beside,
  children,
}: {
  title: string;
  crumbs?: ComponentChildren;
  beside?: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <div class="head">
      <div class="lead">
        {crumbs !== undefined && (
          <nav class="crumbs" aria-label="Breadcrumb">
            {crumbs}
          </nav>
        )}
        <div class="row">
          <h1>{title}</h1>
          {beside}
        </div>
      </div>
      {children !== undefined && <div class="row">{children}</div>}
    </div>
  );
}

export function Card({
  title,
  actions,
  children,
  isPlain = false,
}: {
  title?: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
  isPlain?: boolean;
}) {
  return (
    <section class="card" aria-label={title}>
      {title !== undefined && (
        <header>
          <h2>{title}</h2>
          {actions !== undefined && <div class="row tight">{actions}</div>}
        </header>
      )}
      {isPlain ? children : <div class="body">{children}</div>}
    </section>
  );
}

export function Empty({ title, icon, children }: { title: string; icon?: IconName; children?: ComponentChildren }) {
  return (
    <div class="empty">
      {icon !== undefined && <Icon name={icon} />}
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Note({ mood, children }: { mood: 'good' | 'wait' | 'bad' | 'idle'; children: ComponentChildren }) {
  return (
    <div class={`note ${mood}`} role={mood === 'bad' ? 'alert' : undefined}>
      <Icon name={mood === 'good' ? 'done' : mood === 'idle' ? 'info' : 'warn'} />
      <div class="stack dense">{children}</div>
    </div>
  );
}

export function ProblemNote({ problem, again }: { problem: Problem; again?: () => unknown }) {
  return (
    <Note mood="bad">
      <strong>{problem.message}</strong>
      {problem.hint !== '' && <span>{problem.hint}</span>}
      {problem.requestId !== '' && problem.status >= 500 && <span class="small">Request {problem.requestId}</span>}
      {again !== undefined && (
        <span>
          <button type="button" class="button little" onClick={() => void again()}>
            Try again
          </button>
        </span>
      )}
    </Note>
  );
}

/** Shown at once to those who listen, soon to those who look, and with a way out when it takes long. */
export function Waiting() {
  return (
    <div class="waiting" role="status">
      <p class="soon">
        <span class="spinner" aria-hidden="true" />
        <span class="unseen">Loading</span>
      </p>
      <p class="late">
        This takes longer than it should.{' '}
        <button type="button" class="button little" onClick={() => location.reload()}>
          Load the page again
        </button>
      </p>
    </div>
  );
}

/** What was read, or why it was not. A later failure leaves what is known on the screen. */
export function Loaded<T>({ from, children }: { from: Resource<T>; children: (value: T) => ComponentChildren }) {
  const data = from.data.value;
  const problem = from.problem.value;
  if (data === undefined) {
    if (problem !== null) return <ProblemNote problem={problem} again={() => from.refresh()} />;
    return <Waiting />;
  }
  return (
    <>
      {problem !== null && problem.code !== 'lost' && problem.code !== 'auth.required' && (
        <ProblemNote problem={problem} again={() => from.refresh()} />
      )}
      {children(data)}
    </>
  );
}

export function Time({ at }: { at: string }) {
  const text = ago(at);
  if (text === '') return <span class="muted">never</span>;
  return (
    <time dateTime={at} title={exact(at)}>
      {text}
    </time>
  );
}

export function Copyable({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await attempt(() => copyText(text));
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <div class="code">
      {text}
      <button
        type="button"
        class="button plain little copy"
        aria-label={isCopied ? 'Copied' : label}
        onClick={() => void copy()}
      >
        <Icon name={isCopied ? 'done' : 'copy'} />
      </button>
    </div>
  );
}

/** Browsers give the clipboard to pages over TLS and of the machine itself only; elsewhere the selection is copied. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}
