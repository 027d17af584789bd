import { describe, expect, it } from 'vitest';
import type { RepositoryRecord } from '../../../../domain/deploys/repository-store.ts';
import { isPlatformError } from '../../../../domain/errors.ts';
import { afterPush, afterUploads } from './shared-refs.ts';

const [NONE, ONE, TWO] = ['0', '1', '2'].map((digit) => digit.repeat(40)) as [string, string, string];
const MAIN = 'refs/heads/main';
const pack = (id: string): RepositoryRecord['packs'][number] => ({ id, digest: `of ${id}`, bytes: 1, parts: 1 });
const RECORD: RepositoryRecord = {
  ...{ app: 'shop', id: 'a', version: 3, head: MAIN, shallow: [] },
  refs: { [MAIN]: ONE, 'refs/heads/dev': ONE },
  packs: [pack('p')],
};
const KNOWN = { id: 'a', packs: ['p'] };
const pushed = (from: string, to: string, ref = MAIN) => ({ updates: [{ ref, from, to }], pack: null, head: null });

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (isPlatformError(error, 'app.busy')) return error.message;
    throw error;
  }
  return '';
}

describe('the references of a shared repository', () => {
  it('move, are made and are removed by a push', () => {
    const updates = [
      { ref: MAIN, from: ONE, to: TWO },
      { ref: 'refs/tags/v1', from: NONE, to: TWO },
      { ref: 'refs/heads/dev', from: ONE, to: NONE },
    ];
    const next = afterPush(RECORD, KNOWN, { updates, pack: pack('q'), head: MAIN });
    expect(next).toEqual({
      ...RECORD,
      version: 4,
      refs: { [MAIN]: TWO, 'refs/tags/v1': TWO },
      packs: [pack('p'), pack('q')],
    });
  });

  it('stay where one of them is another one meanwhile', () => {
    const reported = 'The branch main has moved meanwhile: somebody else pushed.';
    for (const from of [TWO, NONE]) expect(refusal(() => afterPush(RECORD, KNOWN, pushed(from, TWO)))).toBe(reported);
    const gone = pushed(ONE, TWO, 'refs/heads/gone');
    expect(refusal(() => afterPush(RECORD, KNOWN, gone))).toContain('The branch gone has moved');
  });

  it('stay where what the push was packed against is there no more', () => {
    const joined = { ...RECORD, packs: [pack('joined')] };
    expect(refusal(() => afterPush(joined, KNOWN, pushed(ONE, TWO)))).toBe('The repository was packed meanwhile.');
    const again = { ...RECORD, id: 'b' };
    expect(refusal(() => afterPush(again, KNOWN, pushed(ONE, TWO)))).toBe('The repository was made anew meanwhile.');
    expect(refusal(() => afterPush(null, KNOWN, pushed(ONE, TWO)))).toBe('The repository was made anew meanwhile.');
  });

  it('have the branch that is deployed for a clone, where there is no other one', () => {
    const empty = { ...RECORD, refs: {} };
    const first = { ...pushed(NONE, ONE, 'refs/heads/master'), head: 'refs/heads/master' };
    expect(afterPush(empty, KNOWN, first).head).toBe('refs/heads/master');
    expect(afterPush(empty, KNOWN, { ...first, head: null }).head).toBe(MAIN);
    expect(afterPush(RECORD, KNOWN, first).head).toBe(MAIN);
  });

  it('keep the newest fifty archives', () => {
    const names = Array.from({ length: 51 }, (_, n) => `refs/tancho/uploads/${String(n).padStart(3, '0')}`);
    const refs = Object.fromEntries(names.map((name) => [name, ONE]));
    const next = afterUploads(RECORD, KNOWN, { refs, pack: pack('q') });
    expect(Object.keys(next.refs).sort()).toEqual([...Object.keys(RECORD.refs), ...names.slice(1)].sort());
    expect(next.packs).toEqual([pack('p'), pack('q')]);
  });
});
