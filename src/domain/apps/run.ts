/** Use case: run a command in the app's sandbox (specification 4.1, /run). */
import { randomHex } from '../../lib/ids.ts';
import { KeyedCounter } from '../../lib/keyed-counter.ts';
import { demand } from '../access.ts';
import type { Act } from '../act.ts';
import { AT_ONCE, CallerPlaces } from '../at-once.ts';
import { type Caller, callerName } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Journal } from '../logs/journal.ts';
import type { Settings } from '../settings.ts';
import type { Store } from '../store.ts';
import { demandApp } from '../demand-app.ts';
import { demandRelease } from './demand-release.ts';
import { mayStill } from './may-still.ts';
import { watchRight } from './right-watch.ts';
import type { ExecRequest, ExecResult, Provisioner } from '../units/provisioner.ts';
import { Failure } from '../failure.ts';
import { servingUnits } from '../units/unit.ts';
import { commandSpec } from '../units/unit-spec.ts';

/** The message for who wants a command or a shell of an app that has no release. */
export const NOT_DEPLOYED = 'App must be available to run commands';
const MAX_COMMAND = 32_768;
/** Each may use as much of the machine as a unit. */
const MAX_PER_APP = 20;

export interface RunRequest {
  readonly command: unknown;
  /** True: in one unit; false: once per unit of the app. */
  readonly once: boolean;
  /** As ExecRequest.output. */
  readonly output: ExecRequest['output'];
  readonly signal: AbortSignal;
}

export interface Run {
  /**
   * Resolves with the exit code of the last command that ran; after a non-zero one no further command is started.
   * Errors: run.command_required, app.not_deployed; run.failed when a command was ended by a signal or took too long;
   * access.denied when the caller loses the right meanwhile; unavailable while many commands of the app run, too_many_requests while many
   * of the caller do.
   */
  run(caller: Caller, app: string, request: RunRequest): Promise<number>;
}

interface RunDeps {
  readonly store: Store;
  readonly provisioner: Provisioner;
  readonly journal: Journal;
  readonly act: Act;
  readonly settings: Settings;
  readonly now: () => Date;
  /** How often is looked whether who runs it still may. */
  readonly recheckMs?: number;
}

export function createRun(deps: RunDeps): Run {
  const { store, provisioner, journal, act, settings, now, recheckMs } = deps;
  const running = new KeyedCounter();
  const places = new CallerPlaces(AT_ONCE.commands, 'commands');

  async function counted<T>(caller: Caller, app: string, work: () => Promise<T>): Promise<T> {
    const others = running.of(app);
    if (others >= MAX_PER_APP) {
      throw new PlatformError('unavailable', `There are ${others} commands of ${app} running.`, {
        hint: 'Wait until one of them has ended.',
      });
    }
    const leavePlace = places.take(caller);
    const leave = running.enter(app);
    try {
      return await work();
    } finally {
      leave();
      leavePlace();
    }
  }

  return {
    async run(caller, appName, request) {
      const app = await demandApp(store, appName);
      demand(caller, 'app.run', { app });
      const { command } = request;
      if (typeof command !== 'string' || command.trim() === '') {
        throw new PlatformError('run.command_required', 'You must provide the command to run', {
          hint: 'Send the command as the body of the request.',
        });
      }
      if (command.length > MAX_COMMAND || command.includes('\0')) {
        throw new PlatformError('input.invalid', `A command has at most ${MAX_COMMAND} characters and no NUL.`);
      }
      return act(caller, 'app.run', { app }, { target: `app:${appName}` }, async () => {
        const release = await demandRelease(store, app, NOT_DEPLOYED);
        await journal.note(appName, `${callerName(caller)} runs a command`);
        const units = servingUnits(app, await store.units(appName));
        const times = request.once ? 1 : Math.max(1, units.length);
        const right = watchRight(() => mayStill(store, caller, 'app.run', app, now().toISOString()), recheckMs);
        const signal = AbortSignal.any([request.signal, right.lost]);
        try {
          let code = 0;
          for (let n = 0; n < times && code === 0; n++) {
            const unit = commandSpec(randomHex(12), release, settings.unitLimits);
            const exec = { unit, command, output: request.output, signal, timeoutMs: settings.runTimeoutMs };
            code = await counted(caller, appName, async () => codeOf(await provisioner.exec(exec)));
          }
          return code;
        } catch (error) {
          right.lost.throwIfAborted();
          throw runFailed(error);
        } finally {
          right.stop();
        }
      });
    },
  };
}

function codeOf({ code, signal }: ExecResult): number {
  if (code !== null) return code;
  throw new PlatformError('run.failed', `The command was ended by ${signal ?? 'the time limit'}.`);
}

/** Other errors pass unchanged. */
export function runFailed(error: unknown): unknown {
  if (!(error instanceof Failure)) return error;
  if (error.code === 'cancelled') return new PlatformError('cancelled', error.message, { cause: error });
  const options = error.hint === '' ? { cause: error } : { cause: error, hint: error.hint };
  return new PlatformError('run.failed', error.message, options);
}
