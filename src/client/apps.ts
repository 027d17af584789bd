/** Apps, their environment, log and commands (specification 4.1). */
import { ClientError } from './errors.ts';
import type { Calls, Progress } from './calls.ts';
import type { Requests } from './requests.ts';
import type * as shapes from './shapes.ts';
import type { RemoteShell, ShellOptions } from './shell.ts';
import { readArrays, readProgress } from './stream.ts';

interface RunOptions {
  /** True: in one unit; false: in every unit of the app, one after the other. */
  readonly once: boolean;
  /** Gets the command's output as it comes. */
  readonly output: (text: string) => void;
  readonly signal?: AbortSignal;
}

interface EnvChange extends Progress {
  readonly noRestart?: boolean;
}

interface ProcessProgress extends Progress {
  /** Absent: every process of the app, or for a number of units `web`. */
  readonly process?: string;
}

interface SwapOptions {
  /** Also when the two differ in platform or number of units. */
  readonly force?: boolean;
  /** Only the extra host names. */
  readonly cnameOnly?: boolean;
}

export interface AppsClient {
  list(filter?: shapes.AppFilter): Promise<readonly shapes.AppSummary[]>;
  info(name: string): Promise<shapes.AppInfo>;
  create(app: shapes.NewApp): Promise<shapes.CreatedApp>;
  /** `force`: also when it is swapped with another app. */
  remove(name: string, progress?: Progress & { readonly force?: boolean }): Promise<void>;
  restart(name: string, progress?: ProcessProgress): Promise<void>;
  start(name: string, progress?: ProcessProgress): Promise<void>;
  stop(name: string, progress?: ProcessProgress): Promise<void>;
  /** Exchanges the addresses of two apps; again: back. */
  swap(app1: string, app2: string, options?: SwapOptions): Promise<void>;
  addUnits(name: string, count: number, progress?: ProcessProgress): Promise<void>;
  removeUnits(name: string, count: number, progress?: ProcessProgress): Promise<void>;
  /** Before the first deploy it takes effect with that. */
  setUnits(name: string, process: string, count: number, progress?: Progress): Promise<void>;
  /** From then on its units reach those of the other app; they are replaced. */
  link(name: string, to: string, progress?: Progress): Promise<void>;
  unlink(name: string, to: string, progress?: Progress): Promise<void>;
  addCnames(name: string, cnames: readonly string[]): Promise<void>;
  removeCnames(name: string, cnames: readonly string[]): Promise<void>;
  /** What is absent stays as it is. */
  update(name: string, change: shapes.AppUpdate): Promise<void>;
  /** Throws what update() would throw before it begins anything; nothing is changed. */
  tryUpdate(name: string, change: shapes.AppUpdate): Promise<void>;
  /** Resolves when what runs has the limits of the plan. */
  changePlan(name: string, plan: string, progress?: Progress): Promise<void>;
  /** Resolves when nobody works on the app. For admins. */
  unlock(name: string): Promise<void>;
  /** For admins. */
  republish(name: string): Promise<shapes.RoutesChange>;
  grant(name: string, team: string): Promise<void>;
  revoke(name: string, team: string): Promise<void>;
  /** Exit code of the command. */
  run(name: string, command: string, options: RunOptions): Promise<number>;
  /** Over a connection of its own. */
  shell(name: string, options: ShellOptions): Promise<RemoteShell>;
  /** Why it is not answering; "all well" only when it does. */
  diagnosis(name: string): Promise<shapes.Diagnosis>;
  /** Of whichever app answers at a URL or host name. */
  diagnosisOf(address: string): Promise<shapes.Diagnosis>;
  /** What it used and did over time. */
  metrics(name: string, query?: { readonly since?: string }): Promise<shapes.AppMetrics>;
  /** Oldest first. */
  log(name: string, query: shapes.LogQuery): Promise<readonly shapes.LogEntry[]>;
  /** What log() gives, then every new entry in batches, until the signal fires; then it just ends. */
  followLog(
    name: string,
    query: shapes.LogQuery,
    signal: AbortSignal,
  ): AsyncGenerator<readonly shapes.LogEntry[], void, undefined>;
}

export interface EnvClient {
  /** All, or those named. */
  get(app: string, names?: readonly string[]): Promise<readonly shapes.EnvVar[]>;
  set(
    app: string,
    values: Readonly<Record<string, string>>,
    change?: EnvChange & { readonly private?: boolean },
  ): Promise<void>;
  unset(app: string, names: readonly string[], change?: EnvChange): Promise<void>;
}

const EXIT_CODE = /exit code:? ([0-9]{1,3})\s*$/;

export function appsClient(requests: Requests, shell: Calls['shell']): AppsClient {
  const { name: target, request, progress: during, open } = requests;
  return {
    list: (filter = {}) => request('apps.list', { query: { ...filter } }),
    info: (app) => request('apps.info', { params: { app } }),
    create: (body) => request('apps.create', { body }),
    remove: (app, { force, ...progress } = {}) =>
      during('apps.remove', { params: { app }, query: { force } }, progress),
    restart: (app, progress = {}) => during('apps.restart-post', ofProcess(app, progress), progress),
    start: (app, progress = {}) => during('apps.start', ofProcess(app, progress), progress),
    stop: (app, progress = {}) => during('apps.stop', ofProcess(app, progress), progress),
    swap: (app1, app2, { force = false, cnameOnly } = {}) =>
      request('apps.swap', { query: { app1, app2, force, cnameOnly } }),
    addUnits: (app, units, progress = {}) => during('units.add', ofProcess(app, progress, { units }), progress),
    removeUnits: (app, units, progress = {}) => during('units.remove', ofProcess(app, progress, { units }), progress),
    setUnits: (app, process, units, progress = {}) =>
      during('units.set', { params: { app, process }, query: { units: String(units) } }, progress),
    link: (app, to, progress = {}) => during('links.add', { params: { app, to } }, progress),
    unlink: (app, to, progress = {}) => during('links.remove', { params: { app, to } }, progress),
    addCnames: (app, cname) => request('cnames.add', { params: { app }, body: { cname } }),
    removeCnames: (app, cname) => request('cnames.remove', { params: { app }, body: { cname } }),
    update: (app, change) => request('apps.update', { params: { app }, body: { ...change } }),
    tryUpdate: (app, change) =>
      request('apps.update', { params: { app }, query: { dryRun: 'true' }, body: { ...change } }),
    changePlan: (app, plan, progress = {}) => during('apps.plan', { params: { app }, body: { plan } }, progress),
    unlock: (app) => request('apps.unlock', { params: { app } }),
    republish: (app) => request('apps.routes', { params: { app } }),
    grant: (app, team) => request('apps.grant', { params: { app, team } }),
    revoke: (app, team) => request('apps.revoke', { params: { app, team } }),
    async run(app, command, { once, output, signal }) {
      const answer = await open('apps.run', { params: { app }, query: { once }, body: command }, signal);
      try {
        await readProgress(answer, target, output);
        return 0;
      } catch (error) {
        const code =
          error instanceof ClientError && error.status === 200 ? EXIT_CODE.exec(error.message)?.[1] : undefined;
        if (code === undefined) throw error;
        return Number(code);
      }
    },
    shell,
    diagnosis: (app) => request('apps.diagnosis', { params: { app } }),
    diagnosisOf: (address) => request('diagnosis.address', { query: { address } }),
    metrics: (app, query = {}) => request('apps.metrics', { params: { app }, query: { ...query } }),
    log: (app, query) => request('apps.log', { params: { app }, query: { ...query } }),
    async *followLog(app, query, signal) {
      try {
        const answer = await open('apps.log', { params: { app }, query: { ...query, follow: 1 } }, signal);
        for await (const batch of readArrays(answer, target)) yield batch as shapes.LogEntry[];
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
  };
}

function ofProcess(app: string, { process }: ProcessProgress, query: { units?: number } = {}) {
  return { params: { app }, query: { ...query, process } };
}

export function envClient({ request, progress: during }: Requests): EnvClient {
  return {
    get: (app, names = []) => request('env.get', { params: { app }, query: { env: names } }),
    set(app, body, change = {}) {
      const query = { private: change.private === true, noRestart: change.noRestart === true };
      return during('env.set', { params: { app }, query, body }, change);
    },
    unset(app, body, change = {}) {
      const query = { noRestart: change.noRestart === true };
      return during('env.unset', { params: { app }, query, body }, change);
    },
  };
}
