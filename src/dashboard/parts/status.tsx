/** A state as a word with a shape and a colour: any one of them is enough. */
export type Mood = 'good' | 'wait' | 'bad' | 'idle';

const MOODS: Readonly<Record<string, Mood>> = {
  started: 'good',
  done: 'good',
  ready: 'good',
  bound: 'good',
  healed: 'good',
  well: 'good',
  up: 'good',
  delivered: 'good',
  dead: 'bad',
  error: 'bad',
  failed: 'bad',
  broken: 'bad',
  down: 'bad',
  refused: 'bad',
  created: 'idle',
  stopped: 'idle',
  cancelled: 'idle',
  left: 'idle',
};

/** What goes on is waited for. */
function moodOf(state: string): Mood {
  return MOODS[state.toLowerCase()] ?? 'wait';
}

const SHAPES: Readonly<Record<Mood, string>> = {
  good: 'M6 1a5 5 0 1 0 0 10A5 5 0 0 0 6 1z',
  wait: 'M6 1a5 5 0 1 0 0 10A5 5 0 0 0 6 1zm0 1.8v6.4a3.2 3.2 0 0 1 0-6.4z',
  bad: 'M6 .5 12 11.5H0z',
  idle: 'M1.5 1.5h9v9h-9zM3.5 3.5v5h5v-5z',
};

export function Status({ state, label = state, mood = moodOf(state) }: { state: string; label?: string; mood?: Mood }) {
  return (
    <span class={`status ${mood}`}>
      <svg viewBox="0 0 12 12" aria-hidden="true">
        <path d={SHAPES[mood]} fill="currentColor" fill-rule="evenodd" />
      </svg>
      {label}
    </span>
  );
}
