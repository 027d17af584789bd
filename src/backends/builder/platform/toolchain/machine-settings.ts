/** What builds inherit from the machine: proxies, registries and certificates, never credentials. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fill } from '../templates.ts';
import type { Ask, BuildPlan } from '../../../../build-plan/build-plan.ts';

const run = promisify(execFile);
const ASK_MS = 60_000;

export interface Inherited {
  readonly variables: Readonly<Record<string, string>>;
  /** To be written into the private home. */
  readonly homeFiles: Readonly<Record<string, string>>;
}

export class MachineSettings {
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #askMs: number;
  readonly #answers = new Map<string, Promise<string | null>>();

  constructor(environment: Readonly<Record<string, string | undefined>>, askMs = ASK_MS) {
    this.#environment = environment;
    this.#askMs = askMs;
  }

  /** For the builds of a plan. Programs that answer are asked once; `find` gives a program's absolute path. */
  async of(plan: Pick<BuildPlan, 'inherit' | 'ask'>, find: (program: string) => string | null): Promise<Inherited> {
    const result: Record<string, string> = {};
    const homeFiles: Record<string, string> = {};
    for (const name of plan.inherit) {
      const value = this.#environment[name];
      if (value !== undefined && value !== '' && !hasCredentials(value)) result[name] = value;
    }
    for (const ask of plan.ask) {
      const { into } = ask;
      if ('variable' in into && into.variable in result) continue;
      const value = await this.#answer(ask, find);
      if (value === null) continue;
      if ('variable' in into) result[into.variable] = value;
      else homeFiles[into.homeFile] = `${homeFiles[into.homeFile] ?? ''}${fill(into.text, { answer: value })}\n`;
    }
    return { variables: result, homeFiles };
  }

  /** Null for none. A program that is not there, or does not answer in time, is asked again by the next build. */
  #answer(ask: Ask, find: (program: string) => string | null): Promise<string | null> {
    const [program = '', ...args] = ask.command;
    const question = ask.command.join(' ');
    const known = this.#answers.get(question);
    if (known !== undefined) return known;
    const path = find(program);
    if (path === null) return Promise.resolve(null);
    const asked = this.#ask(path, args).catch(() => {
      this.#answers.delete(question);
      return null;
    });
    this.#answers.set(question, asked);
    return asked;
  }

  /** Throws when the program could not say anything. */
  async #ask(path: string, args: readonly string[]): Promise<string | null> {
    try {
      const options = { timeout: this.#askMs, env: { ...this.#environment }, cwd: '/' };
      const { stdout } = await run(path, args, options);
      const value = stdout.trim();
      const isNone = ['', 'undefined', 'null'].includes(value);
      return isNone || value.includes('\n') || hasCredentials(value) ? null : value;
    } catch (error) {
      // An exit code is an answer, too: pip says with it that nothing is set.
      if (typeof (error as { code?: unknown }).code === 'number') return null;
      throw error;
    }
  }
}

/** An address with a user in it would hand the operator's password to every app. */
function hasCredentials(value: string): boolean {
  return /\/\/[^/\s]*@/.test(value);
}
