/** One next step that the code suggests, and somebody who takes it. */
import type { FailureCause } from '../../../src/domain/failure.ts';
import type { Need, PushedApp } from '../pushed/pushed-app.ts';

export interface HintRow extends Pick<PushedApp, 'isExtra' | 'needs' | 'files' | 'platform' | 'settings'> {
  /** The file below src/ that says it. */
  readonly from: string;
  /** Commands of ours before the first push. */
  readonly before?: readonly string[];
  /** Absent: it serves, with a warning. */
  readonly cause?: FailureCause;
  /** Shown by what the steps make, not by the plan. */
  readonly isBuilt?: true;
  /** Printed, too: the file and line. */
  readonly says?: string;
  /** As it is printed; APP is the name of the app. */
  readonly hint: string;
  /** What is done in this order, each as the hint says it. */
  readonly follow: readonly Step[];
  /** What the page says after the next push. */
  readonly page: string;
  /** Of the server. */
  readonly env?: Readonly<Record<string, string>>;
}

export type Step =
  /** Files are written; null: removed. */
  | { readonly edit: Readonly<Record<string, string | null>> }
  /** A command of ours that the hint names is run as it is printed, with what stands for <...>; `begins`: of several. */
  | { readonly tancho: Readonly<Record<string, string>>; readonly begins?: string }
  /** The commands in the app's directory that the hint names; `writes`: what the file holds after them, where their program did its work. */
  | { readonly inApp: readonly string[]; readonly writes?: { readonly file: string; readonly text: string } }
  /** The line of a file that the hint gives as an example is written into that file. */
  | { readonly exampleTo: string }
  /** What the operator is asked for. */
  | { readonly operator: Readonly<Record<string, string>> };

export type { Need };
