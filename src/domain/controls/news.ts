/**
 * Contract: what happens on one control, published to the others that share its store, so that they need not ask again and again. Nothing
 * depends on it arriving: whoever listens is asked now and then, and after each loss of the connection, to look for itself.
 */

/**
 * `routes`: what leads to an app, or '' for all, may have changed. `log`: an app's log has new entries. `callers`: who may do what has
 * changed. `certificates`: there are others. `letters`: one was written. `cancel`: a deploy is to end. `deploys`: of an app, one has ended, or another takes its place. `turns`: one of an app waits for those
 * before it. `audit`, `webhooks`: there is something new for whoever has the duties. `drains`: a drain was changed. `throttle`: what was counted. `ask`,
 * `done`: see peers.ts.
 */
export type Topic =
  | 'routes'
  | 'log'
  | 'callers'
  | 'certificates'
  | 'letters'
  | 'cancel'
  | 'deploys'
  | 'turns'
  | 'audit'
  | 'webhooks'
  | 'drains'
  | 'throttle'
  | 'ask'
  | 'done';

/** Null: anything may have happened. */
export type NewsListener = (subject: string | null) => void;

export interface News {
  /** After the commit of what it is about. Soon, and once for what is published several times meanwhile. Never throws. */
  publish(topic: Topic, subject: string): void;
  /** What others publish, not what this one does. */
  on(topic: Topic, listener: NewsListener): void;
  close(): Promise<void>;
}

/** Of a control that is alone. */
export const NO_NEWS: News = {
  publish() {},
  on() {},
  async close() {},
};
