/** The way of a deploy, as people follow it. */
import type { Mood } from '../parts/status.tsx';

export const STEPS = ['received', 'building', 'releasing', 'starting', 'routing', 'draining', 'done'] as const;

export function isOver(state: string): boolean {
  return ['done', 'failed', 'cancelled'].includes(state);
}

/** In words: its state, or why it failed. */
export function outcomeOf({ State, Cause }: { readonly State: string; readonly Cause: string }): string {
  return State === 'failed' && Cause !== '' ? Cause.replaceAll('_', ' ') : State;
}

export function moodOfDeploy(state: string): Mood {
  if (state === 'done') return 'good';
  if (state === 'failed') return 'bad';
  return state === 'cancelled' ? 'idle' : 'wait';
}

const ORIGINS: Readonly<Record<string, string>> = {
  git: 'git push',
  'app-deploy': 'upload',
  'drag-and-drop': 'dropped in the browser',
  rollback: 'rollback',
  image: 'image',
};

export function originOf(origin: string): string {
  return ORIGINS[origin] ?? origin;
}
