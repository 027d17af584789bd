/** Views of apps that are listed again and again: one that is as it was is the same object, so that whoever makes something of it can keep that. */
import type { Unit } from '../units/unit.ts';
import type { App } from './app.ts';
import type { AppView } from './apps.ts';

/** What a view has of what is around the app. */
export interface Around extends Pick<AppView, 'repositoryUrl' | 'address' | 'url' | 'processUrls' | 'ip'> {
  readonly volumeProblems: readonly string[];
}

interface Known {
  readonly view: AppView;
  readonly around: Around;
  readonly units: readonly Unit[];
  /** A unit that has failed is no problem any more some time later. */
  readonly dependsOnTime: boolean;
}

type Routed = NonNullable<AppView['processUrls']>;

export class StandingViews {
  /** By record, which is another one after each change. */
  readonly #known = new WeakMap<App, Known>();

  /** Made only where something is another one than the last time; of units there is the same list as long as they are as they were. */
  of(app: App, units: readonly Unit[], around: Around, make: () => AppView): AppView {
    const known = this.#known.get(app);
    const isAround = known !== undefined && isSameAround(known.around, around);
    if (isAround && known.units === units && !known.dependsOnTime) return known.view;
    const made = make();
    const view = isAround && isSame(known.view, made) ? known.view : made;
    this.#known.set(app, { view, around, units, dependsOnTime: units.some(({ lastExit }) => lastExit !== null) });
    return view;
  }
}

/** Of the same app. */
function isSame(one: AppView, other: AppView): boolean {
  return one.state === other.state && areSame(one.units, other.units) && areSame(one.problems, other.problems);
}

function isSameAround(one: Around, other: Around): boolean {
  return (
    one.repositoryUrl === other.repositoryUrl &&
    one.address === other.address &&
    one.url === other.url &&
    one.ip === other.ip &&
    areSame(one.volumeProblems, other.volumeProblems) &&
    areSameUrls(one.processUrls ?? [], other.processUrls ?? [])
  );
}

function areSame<T>(some: readonly T[], others: readonly T[]): boolean {
  return some.length === others.length && some.every((one, at) => one === others[at]);
}

function areSameUrls(some: Routed, others: Routed): boolean {
  return (
    some.length === others.length &&
    some.every(({ process, url }, at) => process === others[at]?.process && url === others[at].url)
  );
}
