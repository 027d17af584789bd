/** One app of the corpus: its files, and what becomes of it. */
export interface CorpusApp {
  /** Path -> text. */
  readonly files: Readonly<Record<string, string>>;
  readonly title?: string;
  /** The command of its process web. */
  readonly web?: string;
  /** Another process and its command. */
  readonly process?: readonly [string, string];
  readonly steps?: readonly string[];
  readonly lastStep?: RegExp;
  /** Where its site is made. */
  readonly roots?: readonly string[];
  readonly options?: Readonly<Record<string, string>>;
  readonly healthPath?: string;
  /** Commands that run once per new version. */
  readonly release?: readonly string[];
  /** A part of a note. */
  readonly says?: string;
  /** Names of the variables that it gets. */
  readonly variables?: readonly string[];
  /** The message of the first problem. */
  readonly problem?: RegExp;
  readonly isRefused?: boolean;
  /** No plan can be made. */
  readonly throws?: RegExp;
}

export function json(content: unknown): string {
  return JSON.stringify(content, null, 2);
}
