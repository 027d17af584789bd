import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signCheckpoint, verifierKey } from './checkpoint.ts';
import { appendLeaf, rootOf } from './tree.ts';
import { type Forgets, leafOf, type LogRow, LogVerifier } from './verify.ts';

const newKey = (): string =>
  generateKeyPairSync('ed25519', {
    privateKeyEncoding: { format: 'pem', type: 'pkcs8' },
    publicKeyEncoding: { format: 'pem', type: 'spki' },
  }).privateKey;
const KEY = newKey();
const ORIGIN = 'tancho/audit/1';

interface Log {
  readonly rows: LogRow[];
  /** By size; one after every third row, and the last. */
  readonly checkpoints: Map<number, string>;
  readonly key: string;
}

function logOf(contents: readonly string[], key = KEY, origin = ORIGIN): Log {
  const rows = contents.map((content, index) => {
    const salt = `5a17${index}`;
    return { index, salt, content, leaf: leafOf(salt, content).toString('base64') };
  });
  return signed(rows, key, origin);
}

function signed(rows: LogRow[], key = KEY, origin = ORIGIN): Log {
  const checkpoints = new Map<number, string>();
  const frontier: Buffer[] = [];
  for (const [at, { leaf }] of rows.entries()) {
    appendLeaf(frontier, at, Buffer.from(leaf, 'base64'));
    const size = at + 1;
    if (size % 3 !== 0 && size !== rows.length) continue;
    checkpoints.set(size, signCheckpoint({ origin, size, root: rootOf(frontier) }, key));
  }
  return { rows, checkpoints, key: verifierKey(origin, key) };
}

const contents = (count: number): string[] => Array.from({ length: count }, (_, at) => `row ${at}`);
const forgetsOf = (content: string): Forgets | null =>
  content.startsWith('{') ? (JSON.parse(content) as Forgets) : null;
const last = ({ checkpoints }: Log): string => [...checkpoints.values()].at(-1) ?? '';

function problemOf({ rows, checkpoints, key }: Log, kept: string | null = null, newest?: string): string | null {
  const verifier = new LogVerifier(kept, forgetsOf);
  for (const [at, row] of rows.entries()) {
    if (!verifier.add(row)) break;
    const note = checkpoints.get(at + 1);
    if (note !== undefined) verifier.checkpoint(note);
  }
  return verifier.verdict({ key, checkpoint: newest ?? last({ rows, checkpoints, key }) }).problem;
}

/** Somebody who can write into the database, and does not have the key. */
const tampered = (change: (rows: LogRow[]) => LogRow[]): Log => {
  const log = logOf(contents(10));
  return { ...log, rows: change([...log.rows]) };
};
const renumbered = (rows: LogRow[]): LogRow[] => rows.map((row, index) => ({ ...row, index }));

describe('a log', () => {
  it('that nobody changed is as it was recorded, at every size, and begins as every checkpoint of it says', () => {
    for (const count of [1, 2, 3, 7, 10]) {
      const log = logOf(contents(count));
      expect(problemOf(log)).toBeNull();
      for (const kept of log.checkpoints.values()) expect(problemOf(log, kept)).toBeNull();
    }
  });

  it('of which a row was changed names it', () => {
    const log = tampered((rows) => rows.map((row) => (row.index === 4 ? { ...row, content: 'other' } : row)));
    expect(problemOf(log)).toBe('Row 4 is not what was recorded.');
  });

  it('of which a row and its hash were changed names it, or the rows that were signed together with it', () => {
    const forged = (at: number) =>
      tampered((rows) =>
        rows.map((row) =>
          row.index === at ? { ...row, content: 'x', leaf: leafOf(row.salt, 'x').toString('base64') } : row,
        ),
      );
    expect(problemOf(forged(4))).toContain('the first of them between row 3 and row 5');
    expect(problemOf(forged(9))).toMatch(/added, row 9\.$/);
  });

  it('of which a row is missing names it, also when the others were numbered anew', () => {
    expect(problemOf(tampered((rows) => rows.filter(({ index }) => index !== 4)))).toMatch(/^Row 4 is missing/);
    const closed = tampered((rows) => renumbered(rows.filter(({ index }) => index !== 4)));
    expect(problemOf(closed)).toBe('Rows 9 to 9 are missing: a checkpoint says that there were 10.');
  });

  it('of which two rows were exchanged names the first', () => {
    const swap = (rows: LogRow[]): LogRow[] => rows.with(4, rows[7] as LogRow).with(7, rows[4] as LogRow);
    expect(problemOf(tampered(swap))).toMatch(/^Row 4 is missing, or the rows are out of order: .* row 7$|row 7\.$/);
    expect(problemOf(tampered((rows) => renumbered(swap(rows))))).toContain('between row 3 and row 5');
  });

  it('to which a row was added in between says where', () => {
    const more = { index: 0, salt: 'a', content: 'new', leaf: leafOf('a', 'new').toString('base64') };
    expect(problemOf(tampered((rows) => renumbered(rows.toSpliced(5, 0, more))))).toContain('between row 3 and row 5');
  });

  it('that was cut says what is missing, as long as one checkpoint is left', () => {
    const log = logOf(contents(10));
    const cut: Log = { ...log, rows: log.rows.slice(0, 6) };
    expect(problemOf(cut)).toBe('Rows 6 to 9 are missing: a checkpoint says that there were 10.');
    // Its last checkpoint is cut, too: only who has kept that one notices.
    const older = log.checkpoints.get(6) ?? '';
    expect(problemOf(cut, null, older)).toBeNull();
    expect(problemOf(cut, last(log), older)).toBe('Rows 6 to 9 are missing: a checkpoint says that there were 10.');
  });

  it('that parts from the one that a checkpoint was kept of is found, whoever signed what follows', () => {
    const original = logOf(contents(10));
    const fork = logOf([...contents(5), 'another', ...contents(7)]);
    expect(problemOf(fork)).toBeNull();
    expect(problemOf(fork, original.checkpoints.get(3))).toBeNull();
    expect(problemOf(fork, original.checkpoints.get(6))).toContain('one of its first 6 rows was changed');
    expect(problemOf(logOf(contents(10), newKey()), last(original))).toContain('signed with another key');
    expect(problemOf(logOf(contents(10), KEY, 'another'), last(original))).toContain('is of another log');
    expect(problemOf(original, 'nonsense')).toBe('What was given is no checkpoint.');
  });

  it('whose checkpoints were changed says so', () => {
    const log = logOf(contents(10));
    const foreign = last(logOf(contents(10), newKey()));
    expect(problemOf(log, null, foreign)).toBe('The newest checkpoint is not signed with the key of the log.');
    expect(problemOf(log, null, '')).toBe('There is no checkpoint of the log.');
    const changed = {
      ...log,
      checkpoints: new Map(log.checkpoints).set(6, (log.checkpoints.get(6) ?? '').replace('\n6\n', '\n5\n')),
    };
    expect(problemOf(changed)).toBe('The checkpoint of 6 rows was changed: it is not signed with the key of the log.');
  });
});

describe('the content of a row', () => {
  const forgotten = (rows: readonly number[], said: Forgets[]): Log => {
    const log = logOf([...contents(10), ...said.map((one) => JSON.stringify(one))]);
    const without = log.rows.map((row) => (rows.includes(row.index) ? { ...row, salt: '', content: null } : row));
    return { ...log, rows: without };
  };

  it('may be forgotten when a row says so, and the rest is proven as before', () => {
    const log = forgotten([0, 1, 2, 5], [{ before: 3, rows: [5] }]);
    expect(problemOf(log)).toBeNull();
    expect(problemOf(log, log.checkpoints.get(6))).toBeNull();
    const changed = { ...log, rows: log.rows.map((row) => (row.index === 8 ? { ...row, content: 'x' } : row)) };
    expect(problemOf(changed)).toBe('Row 8 is not what was recorded.');
  });

  it('that is removed by somebody else is missed', () => {
    expect(problemOf(forgotten([0, 1, 2, 6], [{ before: 3, rows: [5] }]))).toMatch(/^The content of row 6 was removed/);
    expect(problemOf(forgotten([0], []))).toMatch(/^The content of row 0 was removed/);
    const lost = tampered((rows) => rows.map((row) => (row.index === 2 ? { ...row, content: null } : row)));
    expect(problemOf(lost)).toBe('The content of row 2 is missing.');
  });
});
