/** What builds inherit from the machine: proxies, registries and certificates, never credentials. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fill } from '../templates.ts';
import type { Ask, Platform } from '../platform-file/platform-file.ts';

const run = promisify(execFile);
const ASK_MS = 10_000;

export interface Inherited {
  readonly variables: Readonly<Record<string, string>>;
  /** To be written into the private home. */
  readonly homeFiles: Readonly<Record<string, string>>;
}

export class MachineSettings {
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #answers = new Map<string, Promise<string | null>>();

  constructor(environment: Readonly<Record<string, string | undefined>>) {
    this.#environment = environment;
  }

  /** For the builds of a platform. Programs are asked once; `find` gives a program's absolute path. */
  async of(platform: Platform, find: (program: string) => string | null): Promise<Inherited> {
    const result: Record<string, string> = {};
    const homeFiles: Record<string, string> = {};
    for (const name of platform.inherit) {
      const value = this.#environment[name];
      if (value !== undefined && value !== '' && !hasCredentials(value)) result[name] = value;
    }
    for (const ask of platform.ask) {
      const { into } = ask;
      if ('variable' in into && into.variable in result) continue;
      const question = ask.command.join(' ');
      const answer = this.#answers.get(question) ?? this.#ask(ask, find);
      this.#answers.set(question, answer);
      const value = await answer;
      if (value === null) continue;
      if ('variable' in into) result[into.variable] = value;
      else homeFiles[into.homeFile] = `${homeFiles[into.homeFile] ?? ''}${fill(into.text, { answer: value })}\n`;
    }
    return { variables: result, homeFiles };
  }

  async #ask(ask: Ask, find: (program: string) => string | null): Promise<string | null> {
    const [program = '', ...args] = ask.command;
    const path = find(program);
    if (path === null) return null;
    try {
      const { stdout } = await run(path, args, { timeout: ASK_MS, env: { ...this.#environment }, cwd: '/' });
      const value = stdout.trim();
      const isNone = ['', 'undefined', 'null'].includes(value);
      return isNone || value.includes('\n') || hasCredentials(value) ? null : value;
    } catch {
      return null;
    }
  }
}

/** An address with a user in it would hand the operator's password to every app. */
function hasCredentials(value: string): boolean {
  return /\/\/[^/\s]*@/.test(value);
}
