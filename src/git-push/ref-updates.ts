/** What a push means, judged from its reference updates alone. Pure. */
import { isNone, type RefUpdate } from '../domain/deploys/kept-push.ts';

const DEPLOY_BRANCHES: readonly string[] = ['refs/heads/main', 'refs/heads/master'];

interface PushPlan {
  /** The update to deploy, if any. */
  readonly deploy: RefUpdate | null;
  /** Why the push is refused as a whole; null when it is not. */
  readonly refusal: string | null;
  /** What else the pusher should know. */
  readonly notices: readonly string[];
}

const NAMED = 3;

export function shortName(ref: string): string {
  return ref.replace(/^refs\/(?:heads|tags)\//, '');
}

export function planPush(updates: readonly RefUpdate[]): PushPlan {
  const deploys = updates.filter(({ ref }) => DEPLOY_BRANCHES.includes(ref));
  const stored = updates.filter(({ ref, to }) => !DEPLOY_BRANCHES.includes(ref) && !isNone(to));
  const doomed = deploys.find(({ to }) => isNone(to));
  if (doomed !== undefined) {
    return refused(`The branch ${shortName(doomed.ref)} is what the app runs; it cannot be deleted.`);
  }
  if (deploys.length > 1) {
    return refused('Both main and master would be deployed by this push. Push one of them: git push <remote> main');
  }
  const deploy = deploys[0] ?? null;
  if (stored.length === 0) return { deploy, refusal: null, notices: [] };
  return { deploy, refusal: null, notices: [storedNotice(stored, deploy)] };
}

function refused(refusal: string): PushPlan {
  return { deploy: null, refusal, notices: [] };
}

function storedNotice(stored: readonly RefUpdate[], deploy: RefUpdate | null): string {
  const names = stored.slice(0, NAMED).map(({ ref }) => shortName(ref));
  const more = stored.length > NAMED ? ` and ${stored.length - NAMED} more` : '';
  const text = `Stored ${names.join(', ')}${more}, not deployed: only the branch main (or master) is.`;
  const branch = stored.find(({ ref }) => ref.startsWith('refs/heads/'));
  if (deploy !== null || branch === undefined) return text;
  return `${text} To deploy it: git push <remote> ${shortName(branch.ref)}:main`;
}
