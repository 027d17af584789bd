/** Compares the table a router serves by with the one it is to serve by. */
import { isDeepStrictEqual } from 'node:util';
import type { Route } from './router.ts';
import { routeName } from './table-change.ts';

export interface RouteFault {
  readonly app: string;
  /** One sentence for people. */
  readonly problem: string;
}

/** At most one per route, the worst; sorted by app. Notes and the order of hosts and targets do not count. */
export function routeFaults(known: readonly Route[], wanted: readonly Route[]): RouteFault[] {
  const byName = new Map(known.map((route) => [routeName(route), route]));
  const faults: RouteFault[] = [];
  for (const route of wanted) {
    const problem = faultOf(byName.get(routeName(route)), route);
    if (problem !== null) faults.push({ app: route.app, problem });
    byName.delete(routeName(route));
  }
  const apps = new Set(wanted.map(({ app }) => app));
  for (const { app } of byName.values()) {
    const what = apps.has(app) ? 'a process that answers no requests' : 'an app that does not exist';
    faults.push({ app, problem: `The router has routes of ${what}.` });
  }
  return faults.sort((a, b) => (a.app < b.app ? -1 : 1));
}

function faultOf(known: Route | undefined, wanted: Route): string | null {
  if (known === undefined)
    return wanted.process === undefined
      ? 'The router does not know the app.'
      : `The router does not know the process "${wanted.process}" of the app.`;
  const names = (route: Route): string[] =>
    route.targets.map(({ unit, host, port, process }) => `${unit} ${host} ${port} ${process?.pid}`);
  if (names(known).some((name) => !names(wanted).includes(name)))
    return 'A route points at a unit that does not serve.';
  if (names(wanted).some((name) => !names(known).includes(name))) return 'A unit that serves gets no requests.';
  const isSame = [...known.hosts].sort().join() === [...wanted.hosts].sort().join();
  if (!isSame) return 'The app does not answer at the host names it has.';
  const isTreatedSo = known.https === wanted.https && isDeepStrictEqual(known.rules, wanted.rules);
  return isTreatedSo ? null : 'Requests are not treated as the settings of the app say.';
}
