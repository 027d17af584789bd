/** Short news at the edge of the window. What went wrong stays until somebody has read it. */
import { signal } from '@preact/signals';
import { problemOf } from '../api/problem.ts';
import { Icon } from './icon.tsx';

interface Toast {
  readonly id: number;
  readonly mood: 'good' | 'bad';
  readonly text: string;
  readonly hint: string;
}

const toasts = signal<readonly Toast[]>([]);
const STAYS_MS = 5_000;
const MOST = 4;
let last = 0;

export function notify(text: string): void {
  const id = add('good', text, '');
  setTimeout(() => remove(id), STAYS_MS);
}

export function notifyProblem(thrown: unknown): void {
  const problem = problemOf(thrown);
  // Where one signs in again it is said already.
  if (problem.code === 'auth.required') return;
  if (problem.code === 'lost')
    add('bad', 'The server did not answer.', 'Look whether it was done before you try again.');
  else add('bad', problem.message, problem.hint);
}

/** Does it, says so, and says what went wrong otherwise. Resolves to whether it was done. */
export async function attempt(work: () => Promise<unknown>, done = ''): Promise<boolean> {
  try {
    await work();
  } catch (thrown) {
    notifyProblem(thrown);
    return false;
  }
  if (done !== '') notify(done);
  return true;
}

function add(mood: Toast['mood'], text: string, hint: string): number {
  last += 1;
  toasts.value = [...toasts.value, { id: last, mood, text, hint }].slice(-MOST);
  return last;
}

function remove(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

export function Toasts() {
  return (
    <section class="toasts" aria-label="News" aria-live="polite">
      {toasts.value.map(({ id, mood, text, hint }) => (
        <div key={id} class={`toast ${mood}`}>
          <Icon name={mood === 'good' ? 'done' : 'warn'} />
          <div>
            {text}
            {hint !== '' && <div class="muted small">{hint}</div>}
          </div>
          <button type="button" class="button plain little" aria-label="Dismiss" onClick={() => remove(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </section>
  );
}
