/**
 * Use case: an interactive shell beside an app's units. Bounded in number and in silence; whoever opened it ends it by leaving,
 * or by losing the right to it.
 */
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
import type { App } from './app.ts';
import { demandApp } from '../demand-app.ts';
import { demandRelease } from './demand-release.ts';
import { findUnit, unitNotFound } from '../units/find-unit.ts';
import { mayStill } from './may-still.ts';
import { watchRight } from './right-watch.ts';
import type { Engines } from '../units/engines.ts';
import type { Shell, TerminalSize, UnitSpec } from '../units/provisioner.ts';
import { NOT_DEPLOYED, runFailed } from './run.ts';
import { servingUnits, type Unit } from '../units/unit.ts';
import { commandSpec, unitSpec } from '../units/unit-spec.ts';

export interface ShellInput {
  /** Name, number, id or the beginning of the id of a unit; '' for none in particular. */
  readonly unit: string;
  readonly width: string;
  readonly height: string;
  readonly term: string;
  /** False: what is typed comes from a program; it gets no echo and no prompt. */
  readonly isTerminal: boolean;
  readonly output: (bytes: Uint8Array) => void;
  /** Ends the shell. */
  readonly signal: AbortSignal;
}

/** A shell, and why the platform ended it, if it did. */
export interface OpenShell extends Shell {
  /** What somebody does with it counts against the silence it may keep; output counts by itself. */
  touched(): void;
  /** For people; '' when it ended by itself or its caller has left. */
  readonly reason: () => string;
}

export interface Shells {
  /**
   * Errors: app.not_found, access.denied, app.not_deployed, unit.not_found, unsupported, input.invalid, app.busy (too many
   * are open), too_many_requests (too many of the caller's), run.failed.
   */
  open(caller: Caller, app: string, input: ShellInput): Promise<OpenShell>;
  /** Whether the caller may. Errors: app.not_found, access.denied. */
  permitted(caller: Caller, app: string): Promise<void>;
}

interface ShellsDeps {
  readonly store: Store;
  readonly provisioner: Pick<Engines, 'at' | 'shell'>;
  readonly journal: Journal;
  readonly act: Act;
  readonly settings: Settings;
  readonly now: () => Date;
  /** How long a shell may be silent. */
  readonly idleMs?: number;
  /** How often is looked whether who opened it still may have it. */
  readonly recheckMs?: number;
}

const IDLE_MS = 30 * 60_000;
const MAX_PER_APP = 10;
const MAX_SIZE = 1_000;
const DEFAULT_SIZE: TerminalSize = { columns: 80, rows: 24 };
const TERM = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/;

export function createShells(deps: ShellsDeps): Shells {
  const { store, provisioner, journal, act, settings, now, idleMs = IDLE_MS, recheckMs } = deps;
  const open = new KeyedCounter();
  const places = new CallerPlaces(AT_ONCE.shells, 'shells');

  async function specOf(app: App, wanted: string): Promise<UnitSpec> {
    const units = servingUnits(app, await store.units(app.name));
    const unit = wanted === '' ? null : demandUnit(app.name, units, wanted);
    const release = await demandRelease(store, { ...app, release: unit?.release ?? app.release }, NOT_DEPLOYED);
    return unit === null
      ? commandSpec(randomHex(12), release, settings.unitLimits)
      : unitSpec(unit, release, settings.unitLimits);
  }

  async function permitted(caller: Caller, appName: string): Promise<App> {
    const app = await demandApp(store, appName);
    demand(caller, 'app.shell', { app });
    return app;
  }

  return {
    async permitted(caller, appName) {
      await permitted(caller, appName);
    },
    async open(caller, appName, input) {
      const app = await permitted(caller, appName);
      const size = readSize(input.width, input.height);
      return act(caller, 'app.shell', { app }, { target: `app:${appName}` }, async () => {
        const unit = await specOf(app, input.unit);
        const { name: engine, supports } = provisioner.at(unit.placement ?? null);
        if (!supports.shell)
          throw new PlatformError('unsupported', `The engine of this app (${engine}) has no shells.`);
        if (open.of(appName) >= MAX_PER_APP) {
          throw new PlatformError('app.busy', `There are ${MAX_PER_APP} open shells of ${appName}.`, {
            hint: 'Close one of them first.',
          });
        }
        const leavePlace = places.take(caller);
        const leave = open.enter(appName);
        const silence = new Silence(idleMs);
        const isAllowed = () => mayStill(store, caller, 'app.shell', app, now().toISOString());
        const right = watchRight(isAllowed, recheckMs);
        const end = (): void => {
          silence.end();
          right.stop();
          leave();
          leavePlace();
        };
        try {
          const shell = await provisioner.shell({
            unit,
            term: TERM.test(input.term) ? input.term : 'xterm',
            size: input.isTerminal ? size : null,
            output(bytes) {
              silence.broken();
              input.output(bytes);
            },
            signal: AbortSignal.any([input.signal, silence.signal, right.lost]),
          });
          const name = callerName(caller);
          await journal.note(appName, `${name} opened a shell`);
          void shell.ended.then(() => {
            end();
            return journal.note(appName, `the shell of ${name} has ended`);
          });
          return {
            ...shell,
            touched: () => silence.broken(),
            reason() {
              if (right.lost.aborted) return 'closed: you have no access to the app any more';
              return silence.signal.aborted ? `closed after ${Math.round(idleMs / 60_000)} silent minutes` : '';
            },
          };
        } catch (error) {
          end();
          throw runFailed(error);
        }
      });
    },
  };
}

/** Fires when nothing has happened for so long. */
class Silence {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(ms: number) {
    this.#timer = setTimeout(() => this.#controller.abort(), ms);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  broken(): void {
    this.#timer.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

function demandUnit(app: string, units: readonly Unit[], wanted: string): Unit {
  const found = units.find((unit) => String(unit.index) === wanted) ?? findUnit(units, wanted);
  if (found !== undefined) return found;
  throw unitNotFound(wanted, `List them with "tancho app info ${app}".`);
}

/** Throws `input.invalid`. */
function readSize(width: string, height: string): TerminalSize {
  return {
    columns: dimension('width', width) ?? DEFAULT_SIZE.columns,
    rows: dimension('height', height) ?? DEFAULT_SIZE.rows,
  };
}

/** Null when it is not given, or 0, as programs without a terminal say. */
function dimension(name: string, text: string): number | null {
  if (text === '' || text === '0') return null;
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= MAX_SIZE) return value;
  throw new PlatformError('input.invalid', `Parameter "${name}" must be a whole number from 1 to ${MAX_SIZE}.`);
}
