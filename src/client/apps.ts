/** Apps, their environment, log and commands (specification 4.1). */
import { ClientError } from './errors.ts';
import { type Calls, path, type Progress } from './calls.ts';
import type * as shapes from './shapes.ts';
import { readArrays, readProgress } from './stream.ts';

export interface RunOptions {
  /** True: in one unit; false: in every unit of the app, one after the other. */
  readonly once: boolean;
  /** Gets the command's output as it comes. */
  readonly output: (text: string) => void;
  readonly signal?: AbortSignal;
}

export interface EnvChange extends Progress {
  readonly noRestart?: boolean;
}

export interface ProcessProgress extends Progress {
  /** Absent: every process of the app, or for a number of units `web`. */
  readonly process?: string;
}

export interface SwapOptions {
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
  addCnames(name: string, cnames: readonly string[]): Promise<void>;
  removeCnames(name: string, cnames: readonly string[]): Promise<void>;
  /** What is absent stays as it is. */
  update(name: string, change: shapes.AppUpdate): Promise<void>;
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

export function appsClient(calls: Calls): AppsClient {
  const ofProcess = (method: string, where: string, progress: ProcessProgress, query: { units?: number } = {}) =>
    calls.progress(method, where, { query: { ...query, process: progress.process } }, progress);
  return {
    list: (filter = {}) => calls.json<readonly shapes.AppSummary[]>('GET', '/apps', { query: { ...filter } }, []),
    info: (name) => calls.json('GET', path`/apps/${name}`),
    create: (app) => calls.json('POST', '/apps', { json: app }),
    remove: (name, { force, ...progress } = {}) =>
      calls.progress('DELETE', path`/apps/${name}`, { query: { force } }, progress),
    restart: (name, progress = {}) => ofProcess('POST', path`/apps/${name}/restart`, progress),
    start: (name, progress = {}) => ofProcess('POST', path`/apps/${name}/start`, progress),
    stop: (name, progress = {}) => ofProcess('POST', path`/apps/${name}/stop`, progress),
    async swap(app1, app2, { force, cnameOnly } = {}) {
      await calls.done('PUT', '/swap', { query: { app1, app2, force, cnameOnly } });
    },
    addUnits: (name, units, progress = {}) => ofProcess('PUT', path`/apps/${name}/units`, progress, { units }),
    removeUnits: (name, units, progress = {}) => ofProcess('DELETE', path`/apps/${name}/units`, progress, { units }),
    async addCnames(name, cname) {
      await calls.done('POST', path`/apps/${name}/cname`, { json: { cname } });
    },
    async removeCnames(name, cname) {
      await calls.done('DELETE', path`/apps/${name}/cname`, { json: { cname } });
    },
    async update(name, change) {
      await calls.done('PUT', path`/apps/${name}`, { json: change });
    },
    changePlan: (name, plan, progress = {}) =>
      calls.progress('POST', path`/apps/${name}/plan`, { json: { name: plan } }, progress),
    async unlock(name) {
      await calls.done('DELETE', path`/apps/${name}/lock`);
    },
    republish: (name) => calls.json('POST', path`/apps/${name}/routes`),
    async grant(name, team) {
      await calls.done('PUT', path`/apps/${name}/teams/${team}`);
    },
    async revoke(name, team) {
      await calls.done('DELETE', path`/apps/${name}/teams/${team}`);
    },
    async run(name, command, { once, output, signal }) {
      const request = { query: { once }, text: command };
      const answer = await calls.open('POST', path`/apps/${name}/run`, request, signal);
      try {
        await readProgress(answer, calls.name, output);
        return 0;
      } catch (error) {
        const code =
          error instanceof ClientError && error.status === 200 ? EXIT_CODE.exec(error.message)?.[1] : undefined;
        if (code === undefined) throw error;
        return Number(code);
      }
    },
    log: (name, { lines, source, unit }) =>
      calls.json<readonly shapes.LogEntry[]>('GET', path`/apps/${name}/log`, { query: { lines, source, unit } }, []),
    async *followLog(name, { lines, source, unit }, signal) {
      try {
        const query = { lines, source, unit, follow: 1 };
        const answer = await calls.open('GET', path`/apps/${name}/log`, { query }, signal);
        for await (const batch of readArrays(answer, calls.name)) yield batch as shapes.LogEntry[];
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
  };
}

export function envClient(calls: Calls): EnvClient {
  return {
    get: (app, names = []) =>
      calls.json<readonly shapes.EnvVar[]>('GET', path`/apps/${app}/env`, { query: { env: names } }, []),
    set(app, values, change = {}) {
      const query = { private: change.private === true, noRestart: change.noRestart === true };
      return calls.progress('POST', path`/apps/${app}/env`, { query, json: values }, change);
    },
    unset(app, names, change = {}) {
      const query = { noRestart: change.noRestart === true };
      return calls.progress('DELETE', path`/apps/${app}/env`, { query, json: names }, change);
    },
  };
}
