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

const UPLOADED = 'drag-and-drop';
const ORIGINS: Readonly<Record<string, string>> = {
  git: 'git push',
  'app-deploy': 'upload',
  [UPLOADED]: 'dropped in the browser',
  rollback: 'rollback',
  image: 'image',
};

interface Started {
  readonly ID: string;
  readonly Origin: string;
  readonly User: string;
}

/** What an upload of this user has become, however many others have deployed meanwhile. `before`: the IDs of what was there. */
export function uploaded<D extends Started>(deploys: readonly D[], before: ReadonlySet<string>, user: string) {
  return deploys.find(({ ID, Origin, User }) => Origin === UPLOADED && User === user && !before.has(ID));
}

export function originOf(origin: string): string {
  return ORIGINS[origin] ?? origin;
}
