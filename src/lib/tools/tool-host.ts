/** The process that starts tools in place of this one: there while many are run, and a little longer. */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runHere, type ToolCall, type ToolEnd } from './run-here.ts';
import type { ToolAnswer, ToolQuestion } from './tool-process.ts';

const IDLE_MS = 5_000;
const PROGRAM = fileURLToPath(new URL(`./tool-process${extname(import.meta.url)}`, import.meta.url));

interface Asked {
  /** Who was asked: one that is let go may end only once the next one is up. */
  readonly child: ChildProcess;
  readonly resolve: (end: ToolEnd) => void;
  readonly reject: (error: Error) => void;
}

export class ToolHost {
  readonly #asked = new Map<number, Asked>();
  #child: ChildProcess | null = null;
  #idle: NodeJS.Timeout | null = null;
  #next = 0;

  get isUp(): boolean {
    return this.#child !== null;
  }

  /** As runHere(); also throws when the process ends meanwhile. */
  async run(call: ToolCall): Promise<ToolEnd> {
    const child = this.#child ?? this.#start();
    if (child === null) return runHere(call);
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = null;
    child.ref();
    child.channel?.ref();
    const id = this.#next++;
    try {
      return await new Promise<ToolEnd>((resolve, reject) => {
        this.#asked.set(id, { child, resolve, reject });
        child.send({ id, ...call } satisfies ToolQuestion, (error) => {
          if (error !== null) reject(error);
        });
      });
    } finally {
      this.#asked.delete(id);
      if (this.#asked.size === 0 && this.#child === child) this.#rest(child);
    }
  }

  /** Null: its program is not there, as beside a copy of another one. */
  #start(): ChildProcess | null {
    if (!existsSync(PROGRAM)) return null;
    const env = { PATH: process.env['PATH'] };
    const child = fork(PROGRAM, { execArgv: [], env, cwd: '/', stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    child.on('message', (answer: ToolAnswer) => {
      const asked = this.#asked.get(answer.id);
      if ('end' in answer) asked?.resolve(answer.end);
      else asked?.reject(Object.assign(new Error(answer.problem), { code: answer.errorCode }));
    });
    const over = (error: Error): void => {
      if (this.#child === child) this.#child = null;
      for (const asked of this.#asked.values()) if (asked.child === child) asked.reject(error);
    };
    child.once('error', over);
    child.once('exit', () => over(new Error('The process that starts tools has ended.')));
    this.#child = child;
    return child;
  }

  /** It keeps this process from ending as little as a tool that has ended does. */
  #rest(child: ChildProcess): void {
    child.unref();
    child.channel?.unref();
    this.#idle = setTimeout(() => {
      this.#child = null;
      if (child.connected) child.disconnect();
    }, IDLE_MS).unref();
  }
}
