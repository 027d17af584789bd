/** What every command works with: the client of the chosen platform, output in the chosen form. */
import type { Client } from '../client/client.ts';
import type { CliContext } from './context.ts';
import { paint, printable, printableJson, shownOn, type Style } from './output.ts';
import { startSpinner } from './progress.ts';
import type { Chosen } from './target.ts';

export interface GlobalOptions {
  readonly target?: string;
  readonly json?: boolean;
}

export class Cli {
  readonly context: CliContext;
  readonly #options: () => GlobalOptions;
  #chosen: Promise<Chosen> | undefined;
  /** What the command has set; 0 unless it says otherwise. */
  exitCode = 0;

  constructor(context: CliContext, options: () => GlobalOptions) {
    this.context = context;
    this.#options = options;
  }

  get options(): GlobalOptions {
    return this.#options();
  }

  /** The platform this command is about. */
  chosen(): Promise<Chosen> {
    this.#chosen ??= import('./target.ts').then(({ chooseTarget }) => chooseTarget(this.context, this.options.target));
    return this.#chosen;
  }

  async client(): Promise<Client> {
    return (await this.chosen()).client;
  }

  /** A line of the result. */
  print(text: string): void {
    const { stdout } = this.context;
    stdout.write(`${this.options.json === true ? printableJson(text) : shownOn(stdout, text)}\n`);
  }

  /** A line beside the result: not for programs. */
  note(text: string): void {
    const output = this.options.json === true ? this.context.stderr : this.context.stdout;
    output.write(`${shownOn(output, text)}\n`);
  }

  /** What should be known beside the result, on standard error. */
  warn(text: string): void {
    const { stderr, env } = this.context;
    stderr.write(`${paint(stderr, env, 'yellow', 'Warning:')} ${printable(text)}\n`);
  }

  /** The result, in the form that was asked for. */
  show(value: unknown, text: () => string): void {
    this.print(this.options.json === true ? JSON.stringify(value, null, 2) : text());
  }

  paint(style: Style, text: string): string {
    return paint(this.context.stdout, this.context.env, style, text);
  }

  /** Runs something that may take long; `say` prints what the platform reports meanwhile. */
  async during<T>(label: string, work: (say: (message: string) => void) => Promise<T>): Promise<T> {
    const spinner = startSpinner(this.context.stderr, label);
    try {
      return await work((message) => {
        spinner.clear();
        this.note(printable(message.replace(/\n$/, '')));
      });
    } finally {
      spinner.stop();
    }
  }

  get interactive(): boolean {
    return this.context.stdin.isTTY === true && this.context.stderr.isTTY === true;
  }
}
