/** At which host names an app answers, and which of its processes. Rules only. */
import { ROUTED_PROCESS } from '../units/unit.ts';
import { type App, hostLabel } from './app.ts';

interface HostName {
  readonly name: string;
  readonly process: string;
}

type Named = Pick<App, 'name' | 'swappedWith' | 'cname' | 'routedProcesses'>;

/** What stands before the platform's domain: the label of the app, or that of one of its processes and the app's. */
export function labelsOf(app: Pick<App, 'name' | 'swappedWith'>, process: string): string {
  return process === ROUTED_PROCESS ? hostLabel(app) : `${process}.${hostLabel(app)}`;
}

/** Its own name first, then its extra ones, then those of its other routed processes. */
export function hostNamesOf(app: Named, domain: string): HostName[] {
  const own = (process: string): HostName => ({ name: `${labelsOf(app, process)}.${domain}`, process });
  const extra = app.cname.map((name) => ({ name, process: ROUTED_PROCESS }));
  return [own(ROUTED_PROCESS), ...extra, ...app.routedProcesses.map(own)];
}
