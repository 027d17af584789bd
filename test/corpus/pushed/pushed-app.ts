/** One app that is really pushed: its files, what it needs, and its true pages or the exact cause of its failure. */
import type { FailureCause } from '../../../src/domain/failure.ts';

export interface PushedApp {
  /** In all rounds only: another one takes the same way, and what is its own is shown by plans or what prints it (corpus.test.ts, advice.test.ts). */
  readonly isExtra?: true;
  /** Without them it is skipped, and says so. */
  readonly needs?: readonly Need[];
  /** Path -> text. */
  readonly files: Readonly<Record<string, string>>;
  /** The app that it is pushed to: those of one language may share one, and with it what was fetched. Absent: one of its own. */
  readonly app?: string;
  /** Of the app; absent: what the source is. */
  readonly platform?: string;
  /** Arguments of `tancho app update` before the push. */
  readonly settings?: readonly string[];
  /** Path -> what is in its page. What a page of HTML names is looked at, too. */
  readonly pages?: Readonly<Record<string, string>>;
  /** Parts of what the push prints. */
  readonly says?: readonly string[];
  readonly fails?: {
    readonly cause: FailureCause;
    /** Of the message: it names the file and line, or the setting. */
    readonly message: RegExp;
  };
}

/** What the machine brings, or what it reaches. */
export type Need =
  | 'npm'
  | 'python'
  | 'pip'
  | 'go'
  | 'cargo'
  | 'maven'
  | 'php'
  | 'composer'
  | 'ruby'
  | 'networks'
  | 'memory limits'
  | 'images'
  | 'docker'
  | 'lock tools'
  | 'pypi.org'
  | 'gradle';

export type PushedApps = Readonly<Record<string, PushedApp>>;

export function json(content: unknown): string {
  return JSON.stringify(content, null, 2);
}

/** A server in JavaScript that answers every path with the value of the expression. */
export function nodeServer(expression: string): string {
  return `require('node:http').createServer((request, answer) => answer.end(${expression})).listen(process.env.PORT);\n`;
}
