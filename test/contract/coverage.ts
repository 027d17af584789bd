/** The last tests of the contract: was every row of the specification asked for, and was every answer as documented? */
import { describe, expect, it, type RunnerTask } from 'vitest';
import { type Described, idOf, outlineOf } from './document.ts';
import type { Recorder, VariantName } from './recorder.ts';
import { type Row, ROWS } from './rows.ts';
import { ask, EXPECTED, login, type Target, VARIANT_NAMES } from './target.ts';

interface Verdict {
  readonly row: string;
  /** '' when it is covered. */
  readonly lacking: string;
}

/** Titles carry the ids of the operations that they show in brackets: `lists apps [apps.list]`. */
interface Finished {
  readonly ids: readonly string[];
  readonly variants: readonly VariantName[];
  readonly outcome: 'passed' | 'failed' | 'skipped';
}

export function coverageChecks(getTarget: () => Target): void {
  describe('the contract', () => {
    it.for(VARIANT_NAMES)('of %s is covered, row by row', async (variant, { task }) => {
      const target = getTarget();
      const { recorder } = target;
      const token = await login(target, target.adminEmail, target.adminPassword);
      const tests = finishedTests(task.file);
      const verdicts: Verdict[] = [];
      for (const row of ROWS) {
        const path = variant === 'union' ? (row.a ?? row.b) : row[variant];
        verdicts.push(
          path === null
            ? await absent(target, row, variant, token)
            : present(recorder, variant, { ...row, path }, tests),
        );
      }
      const missing = verdicts.filter(({ lacking }) => lacking !== '');
      const lines = missing.map(({ row, lacking }) => `  ${row}: ${lacking}`);
      console.log(
        [`contract of ${variant}: ${ROWS.length - missing.length} of ${ROWS.length} rows`, ...lines].join('\n'),
      );
      expect(missing.map(({ row, lacking }) => `${row}: ${lacking}`)).toEqual([]);
    });

    it('is what the OpenAPI documents say, in every answer that was seen', () => {
      const { recorder } = getTarget();
      expect(recorder.answers).toBeGreaterThan(100);
      expect([...recorder.problems].sort()).toEqual([]);
    });
  });
}

async function absent(target: Target, row: Row, variant: 'union' | 'a' | 'b', token: string): Promise<Verdict> {
  const path = (row.a ?? row.b ?? '').replace(/\{\w+\}/g, 'nobody-is-called-this');
  const { status, code } = await ask(target, row.method, EXPECTED[variant].prefix + path, { token });
  const isAbsent = status === 404 && code === 'route.not_found';
  return { row: `${row.section} ${row.method} ${path}`, lacking: isAbsent ? '' : `answers ${status}` };
}

function present(
  recorder: Recorder,
  variant: VariantName,
  { section, method, path }: Row & { path: string },
  tests: readonly Finished[],
): Verdict {
  const row = `${section} ${method} ${path}`;
  const operation = recorder
    .operations(variant)
    .find((one) => one.method === method && outlineOf(one.path) === outlineOf(path));
  if (operation === undefined) return { row, lacking: 'not served' };
  return { row, lacking: lackOf(recorder, variant, operation, tests) };
}

function lackOf(recorder: Recorder, variant: VariantName, operation: Described, tests: readonly Finished[]): string {
  const id = idOf(operation);
  const own = tests.filter(({ ids, variants }) => ids.includes(id) && variants.includes(variant));
  if (own.length === 0) return `no test of ${variant} has [${id}] in its title`;
  if (own.some(({ outcome }) => outcome === 'failed')) return `a test of [${id}] fails`;
  // What this server cannot be asked is said by the test that is skipped.
  if (own.some(({ outcome }) => outcome === 'skipped') || recorder.hasSucceeded(variant, id)) return '';
  return `no test of ${variant} was answered with success by [${id}]`;
}

function finishedTests(task: RunnerTask, trail = ''): Finished[] {
  const title = `${trail} ${task.name}`;
  if (task.type === 'suite') return task.tasks.flatMap((one) => finishedTests(one, title));
  const ids = [...title.matchAll(/\[([\w. ]+)\]/g)].flatMap((match) => (match[1] ?? '').split(' '));
  const variants = [...title.matchAll(/\bof (union|a|b)\b/g)].map((match) => match[1] as VariantName);
  const state = task.result?.state;
  const outcome = state === 'pass' ? 'passed' : state === 'fail' ? 'failed' : 'skipped';
  return ids.length === 0 ? [] : [{ ids, variants: variants.length > 0 ? variants : ['union'], outcome }];
}
