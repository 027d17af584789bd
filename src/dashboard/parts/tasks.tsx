/** What is being done to apps, line by line, wherever the viewer goes meanwhile. */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { problemOf } from '../api/problem.ts';
import { counted } from '../data/at-work.ts';
import { Icon } from './icon.tsx';

interface Task {
  readonly id: number;
  readonly title: string;
  readonly state: 'running' | 'done' | 'failed';
  readonly lines: readonly string[];
  readonly hint: string;
}

const tasks = signal<readonly Task[]>([]);
const STAYS_MS = 4_000;
const MOST_LINES = 200;
const MOST_TASKS = 5;
let last = 0;

/** Resolves to whether it was done. What went wrong stays on the screen. */
export async function runTask(
  title: string,
  work: (said: (line: string) => void) => Promise<unknown>,
): Promise<boolean> {
  last += 1;
  const id = last;
  tasks.value = [...tasks.value.slice(1 - MOST_TASKS), { id, title, state: 'running', lines: [], hint: '' }];
  const change = (make: (task: Task) => Partial<Task>): void => {
    tasks.value = tasks.value.map((task) => (task.id === id ? { ...task, ...make(task) } : task));
  };
  const said = (line: string): void => {
    const text = line.trimEnd();
    if (text !== '') change(({ lines }) => ({ lines: [...lines, ...text.split('\n')].slice(-MOST_LINES) }));
  };
  try {
    await counted(work(said));
  } catch (thrown) {
    const problem = problemOf(thrown);
    said(problem.message);
    change(() => ({ state: 'failed', hint: problem.hint }));
    return false;
  }
  change(() => ({ state: 'done' }));
  setTimeout(() => dismiss(id), STAYS_MS);
  return true;
}

function dismiss(id: number): void {
  tasks.value = tasks.value.filter((task) => task.id !== id);
}

const WORDS = { running: 'at work', done: 'done', failed: 'failed' };

export function TaskList() {
  return (
    <section class="tasks" aria-label="What is being done">
      {tasks.value.map((task) => (
        <TaskView key={task.id} task={task} />
      ))}
    </section>
  );
}

function TaskView({ task }: { task: Task }) {
  const output = useRef<HTMLPreElement>(null);
  useEffect(() => output.current?.scrollTo(0, output.current.scrollHeight), [task.lines]);
  return (
    <div class={`toast task ${task.state === 'failed' ? 'bad' : 'good'}`}>
      {task.state === 'running' ? (
        <span class="spinner" aria-hidden="true" />
      ) : (
        <Icon name={task.state === 'done' ? 'done' : 'warn'} />
      )}
      <div>
        <div role="status">
          <strong>{task.title}</strong> <span class="muted">{WORDS[task.state]}</span>
        </div>
        {task.hint !== '' && <div class="muted small">{task.hint}</div>}
        {task.state !== 'done' && task.lines.length > 0 && (
          <pre class="output" ref={output} tabIndex={0} aria-label={`Output of ${task.title}`}>
            {task.lines.join('\n')}
          </pre>
        )}
      </div>
      {task.state !== 'running' && (
        <button type="button" class="button plain little" aria-label="Dismiss" onClick={() => dismiss(task.id)}>
          <Icon name="close" />
        </button>
      )}
    </div>
  );
}
