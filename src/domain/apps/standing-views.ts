/** Views of apps that are listed again and again: one that is as it was is the same object, so that whoever makes something of it can keep that. */
import type { App } from './app.ts';
import type { AppView } from './apps.ts';

type Routed = NonNullable<AppView['processUrls']>;

export class StandingViews {
  /** By record, which is another one after each change. */
  readonly #views = new WeakMap<App, AppView>();

  of(view: AppView): AppView {
    const known = this.#views.get(view.app);
    if (known !== undefined && isSame(known, view)) return known;
    this.#views.set(view.app, view);
    return view;
  }
}

function isSame(one: AppView, other: AppView): boolean {
  return (
    one.state === other.state &&
    one.repositoryUrl === other.repositoryUrl &&
    one.address === other.address &&
    one.url === other.url &&
    one.ip === other.ip &&
    areSame(one.units, other.units) &&
    areSame(one.problems, other.problems) &&
    areSameUrls(one.processUrls ?? [], other.processUrls ?? [])
  );
}

function areSame<T>(some: readonly T[], others: readonly T[]): boolean {
  return some.length === others.length && some.every((one, at) => one === others[at]);
}

function areSameUrls(some: Routed, others: Routed): boolean {
  const texts = (routed: Routed): string[] => routed.map(({ process, url }) => `${process} ${url}`);
  return areSame(texts(some), texts(others));
}
