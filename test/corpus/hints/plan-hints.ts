/** Next steps of failures that a plan shows, which takes some files and no server: each is taken, and the plan is one that can be built. */
import { expect } from 'vitest';
import { LANGUAGES } from '../../../src/build-plan/languages/built-in.ts';
import { demandBuildable, planSource } from '../../../src/build-plan/plan-source.ts';
import { Failure } from '../../../src/domain/failure.ts';
import { sourceOf } from '../../support/memory-source.ts';
import type { HintRow, Step } from './hint-row.ts';

type Files = Readonly<Record<string, string>>;
type Edit = Extract<Step, { readonly edit: unknown } | { readonly exampleTo: string }>;

const APP = 'shop';
const WORDS = { APP, REGISTRY: 'registry.example.com' };

/** What a plan of its files shows, and an edit of them mends. All others are pushed to a server. */
export function isOfPlan(row: HintRow): boolean {
  const { from, cause, isBuilt = false, env, settings, before, follow } = row;
  const isPlanned = from.startsWith('build-plan/') && cause !== undefined && cause !== 'build_failed' && !isBuilt;
  const isPlain = env === undefined && settings === undefined && before === undefined;
  return isPlanned && isPlain && follow.every(isEdit);
}

export async function takePlanHint(row: HintRow): Promise<void> {
  const failure = await problemOf(row, row.files);
  expect(failure?.code).toBe(row.cause);
  expect(failure?.message).toContain(row.says ?? '');
  expect(failure?.hint).toContain(filled(row.hint));
  const mended = row.follow.filter(isEdit).reduce((files, step) => edited(files, step, row.hint), row.files);
  expect(await problemOf(row, mended)).toBeNull();
}

async function problemOf({ platform = 'auto' }: HintRow, files: Files): Promise<Failure | null> {
  try {
    const source = Object.fromEntries(Object.entries(files).map(([path, text]) => [path, filled(text)]));
    const { plan } = await planSource({ app: APP, platform, languages: LANGUAGES, files: sourceOf(source) });
    demandBuildable(plan);
    return null;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

function filled(text: string): string {
  return Object.entries(WORDS).reduce((all, [word, value]) => all.replaceAll(word, value), text);
}

function isEdit(step: Step): step is Edit {
  return 'edit' in step || 'exampleTo' in step;
}

function edited(files: Files, step: Edit, hint: string): Files {
  const changes = 'edit' in step ? step.edit : { [step.exampleTo]: exampleOf(hint) };
  const kept = Object.entries({ ...files, ...changes }).flatMap(([path, text]) =>
    text === null ? [] : [[path, text]],
  );
  return Object.fromEntries(kept) as Record<string, string>;
}

/** The line that a hint gives as an example. */
export function exampleOf(hint: string): string {
  const example = /for example:? "?(web: [^",]*)/.exec(hint)?.[1] ?? '';
  expect(example, hint).not.toBe('');
  return `${example.trim()}\n`;
}
